{{- define "gate.name" -}}
{{- $name := .Values.name | default .Release.Name -}}
{{- if or (gt (len $name) 40) (contains "." $name) -}}
{{- fail (printf "%q cannot be the name of a gate: a name has at most 40 lower-case letters, digits and '-'; set name" $name) -}}
{{- end -}}
{{- $name -}}
{{- end -}}

{{- define "gate.image" -}}
{{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) }}
{{- end -}}

{{- define "gate.labels" -}}
app.kubernetes.io/name: {{ include "gate.name" . | quote }}
app.kubernetes.io/component: gate
{{- end -}}

{{/* Metadata of an object: list context, name, namespace ("" for the cluster), annotations (a dict). */}}
{{- define "gate.metadata" -}}
metadata:
  name: {{ index . 1 | quote }}
  {{- with index . 2 }}
  namespace: {{ . | quote }}
  {{- end }}
  labels:
    {{- include "gate.labels" (index . 0) | nindent 4 }}
  {{- with index . 3 }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* A role with its binding: dict root, name, namespace ("" for a ClusterRole), account, annotations, rules (text). */}}
{{- define "gate.role" -}}
{{- $kind := ternary "Role" "ClusterRole" (ne .namespace "") -}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}
{{ include "gate.metadata" (list .root .name .namespace .annotations) }}
rules:
{{ .rules | trim }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}Binding
{{ include "gate.metadata" (list .root .name .namespace .annotations) }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ $kind }}
  name: {{ .name | quote }}
subjects:
- kind: ServiceAccount
  name: {{ .account | quote }}
  namespace: {{ .root.Release.Namespace | quote }}
{{ end -}}

{{/* What every pod has. */}}
{{- define "gate.pod" -}}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  seccompProfile:
    type: RuntimeDefault
{{- end -}}

{{- define "gate.container" -}}
name: fairlead
image: {{ include "gate.image" . | quote }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end -}}

{{- define "gate.clusterRules" -}}
- apiGroups: [admissionregistration.k8s.io]
  resources: [validatingwebhookconfigurations]
  verbs: [get, list, watch]
- apiGroups: [admissionregistration.k8s.io]
  resources: [mutatingwebhookconfigurations]
  verbs: [get, list, watch, create, delete]
- apiGroups: [apiextensions.k8s.io]
  resources: [customresourcedefinitions]
  verbs: [get, list, watch]
- apiGroups: [""]
  resources: [namespaces, services]
  verbs: [get, list, watch]
- apiGroups: [discovery.k8s.io]
  resources: [endpointslices]
  verbs: [get, list, watch]
{{- if .Values.shadows }}
- apiGroups: [node.k8s.io]
  resources: [runtimeclasses]
  verbs: [create]
{{- end }}
{{- end -}}

{{- define "gate.ownRules" -}}
- apiGroups: [""]
  resources: [secrets]
  resourceNames: ["{{ . }}-cert", "{{ . }}-cert-ca"]
  verbs: [get, list, watch, update]
- apiGroups: [""]
  resources: [secrets]
  verbs: [create]
- apiGroups: [""]
  resources: [configmaps]
  verbs: [create]
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: ["{{ . }}", "{{ . }}-cert-keeper"]
  verbs: [get, list, watch, update]
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [create]
{{- end -}}

{{- define "gate.eventRules" -}}
- apiGroups: [""]
  resources: [events]
  verbs: [create]
{{- end -}}
