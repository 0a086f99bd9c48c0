// Objects of many kinds as people write them: without the fields that the server fills in, and with values in forms
// that the server rewrites.
#pragma once

#include <string_view>

namespace fairlead::inventory {

inline constexpr std::string_view kWantedObjects = R"(
apiVersion: v1
kind: ConfigMap
metadata: {name: plain, namespace: default, labels: {app: x}, annotations: {note: hello}}
data: {a: "1", b: "2"}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: bare, namespace: default, labels: {app: x}, creationTimestamp: null}
---
apiVersion: v1
kind: Secret
metadata: {name: plain, namespace: default}
type: Opaque
data: {a: MQ==}
---
apiVersion: v1
kind: Secret
metadata: {name: strings, namespace: default}
stringData: {password: correct horse}
data: {a: MQ==}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: default}
spec:
  selector: {app: web}
  ports:
  - {name: http, port: 80, targetPort: http}
  - {name: https, port: 443}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: web, namespace: default}
imagePullSecrets: [{name: pull}]
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: default}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1024Mi}}
---
apiVersion: v1
kind: LimitRange
metadata: {name: limits, namespace: default}
spec:
  limits: [{type: Container, default: {cpu: 1000m}}]
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: quota, namespace: default}
spec:
  hard: {pods: "1000", requests.cpu: 100000m}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: default, labels: {app: web}}
spec:
  selector: {matchLabels: {app: web}}
  strategy: {}
  template:
    metadata: {labels: {app: web}, creationTimestamp: null}
    spec:
      serviceAccountName: web
      securityContext: {runAsNonRoot: true}
      nodeSelector: {disk: ssd}
      tolerations: [{key: a, operator: Exists}]
      containers:
      - name: web
        image: registry.example/web:1
        args: [--a, --b]
        env:
        - {name: A, value: "1"}
        - {name: B, valueFrom: {fieldRef: {fieldPath: metadata.name}}}
        ports:
        - {containerPort: 80, name: http}
        - {containerPort: 80, protocol: UDP}
        resources:
          limits: {cpu: 1000m, memory: 1024Mi}
          requests: {cpu: 0.5}
        readinessProbe: {httpGet: {path: /ready, port: http}}
        volumeMounts: [{name: cfg, mountPath: /cfg}]
      - name: side
        image: registry.example/side
      volumes:
      - {name: cfg, configMap: {name: plain}}
      - {name: tmp, emptyDir: {}}
      - name: token
        projected: {sources: [{serviceAccountToken: {path: token}}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: default}
spec:
  serviceName: db
  replicas: 2
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: db, image: "registry.example/db:1"}]
  volumeClaimTemplates:
  - metadata: {name: data}
    spec:
      accessModes: [ReadWriteOnce]
      resources: {requests: {storage: 1Gi}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: default}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec:
      hostNetwork: true
      containers: [{name: agent, image: "registry.example/agent:1", ports: [{containerPort: 9100}]}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: once, namespace: default}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: once, image: "registry.example/once:1"}]
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, namespace: default}
spec:
  schedule: "0 3 * * *"
  jobTemplate:
    spec:
      template:
        spec:
          restartPolicy: OnFailure
          containers: [{name: nightly, image: "registry.example/nightly:1"}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: default}
spec: {minAvailable: 50%, selector: {matchLabels: {app: web}}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: default}
spec:
  maxReplicas: 3
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: web, namespace: default}
spec:
  podSelector: {matchLabels: {app: web}}
  ingress: [{from: [{podSelector: {}}], ports: [{port: 80}]}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: default}
spec:
  rules:
  - host: web.example
    http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: web, namespace: default}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: web, namespace: default}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: web}
subjects: [{kind: ServiceAccount, name: web, namespace: default}]
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 1000
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast}
provisioner: example.com/fast
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: web}
webhooks:
- name: web.example.com
  admissionReviewVersions: [v1]
  sideEffects: None
  failurePolicy: Ignore
  clientConfig: {service: {name: web, namespace: default, path: /validate}}
  namespaceSelector: {matchLabels: {webhook: "never"}}
  rules: [{apiGroups: [example.com], apiVersions: [v1], operations: [CREATE], resources: [nothings]}]
---
apiVersion: example.com/v1
kind: Widget
metadata: {name: w, namespace: default, labels: {app: x}}
spec:
  size: 3
  tags: [a, b]
  parts: [{name: a, count: 1}, {name: b}]
  options: {x: {enabled: true}}
  steps: [{run: a}]
)";

inline constexpr std::string_view kWidgets = R"(
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
          spec:
            type: object
            properties:
              size: {type: integer}
              color: {type: string, default: red}
              tags: {type: array, items: {type: string}, x-kubernetes-list-type: set}
              parts:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [name]
                items:
                  type: object
                  required: [name]
                  properties: {name: {type: string}, count: {type: integer, default: 1}, note: {type: string}}
              options:
                type: object
                additionalProperties: {type: object, properties: {enabled: {type: boolean}}}
              steps:
                type: array
                items: {type: object, properties: {run: {type: string}, timeout: {type: integer, default: 5}}}
)";

}  // namespace fairlead::inventory
