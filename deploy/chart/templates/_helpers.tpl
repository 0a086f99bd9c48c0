{{/* The values, with those below dynamo-operator in their places, and with all defaults filled in. */}}
{{- define "fairlead.values" -}}
{{- $values := mustMergeOverwrite (deepCopy (omit .Values "dynamo-operator" "global")) (deepCopy (index .Values "dynamo-operator" | default dict)) -}}
{{- $name := printf "%s-webhook" .Release.Name -}}
{{- $restriction := $values.namespaceRestriction -}}
{{- $only := "" -}}
{{- if $restriction.enabled -}}
{{- $only = $restriction.namespace | default $restriction.targetNamespace | default .Release.Namespace -}}
{{- end -}}
{{- $mode := "automatic" -}}
{{- if $values.webhook.certManager.enabled -}}{{- $mode = "cert-manager" -}}{{- end -}}
{{- if $values.webhook.certificateSecret.external -}}{{- $mode = "external" -}}{{- end -}}
{{- $secret := $values.webhook.certificateSecret.name | default (printf "%s-webhook-server-cert" .Release.Name) -}}
{{- $image := printf "%s:%s" $values.webhook.image.repository ($values.webhook.image.tag | default .Chart.AppVersion) -}}
{{- $hook := $values.webhook.certGenerator.image -}}
{{- $hookImage := $image -}}
{{- if $hook.repository -}}{{- $hookImage = printf "%s:%s" $hook.repository ($hook.tag | default .Chart.AppVersion) -}}{{- end -}}
{{- $configuration := printf "%s-validating" .Release.Name -}}
{{- if $only -}}{{- $configuration = printf "%s-%s" $configuration $only -}}{{- end -}}
{{- $selector := $values.webhook.namespaceSelector -}}
{{- if $only -}}{{- $selector = dict "matchLabels" (dict "kubernetes.io/metadata.name" $only) -}}{{- end -}}
{{- $made := dict "name" $name "only" $only "mode" $mode "secret" $secret "image" $image "hookImage" $hookImage
    "configuration" $configuration "selector" $selector
    "leader" ($values.leaderElection.id | default $name)
    "leaderNamespace" ($values.leaderElection.namespace | default .Release.Namespace)
    "replicas" (ternary (int $values.webhook.replicas) 1 $values.webhook.enabled) -}}
{{- toYaml (merge (dict "made" $made) $values) -}}
{{- end -}}

{{- define "fairlead.selectorLabels" -}}
app.kubernetes.io/name: fairlead-webhook
app.kubernetes.io/instance: {{ .Release.Name | quote }}
{{- end -}}

{{- define "fairlead.labels" -}}
{{ include "fairlead.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
{{- end -}}

{{/* Metadata of an object: list context, name, namespace ("" for the cluster), annotations (a dict). */}}
{{- define "fairlead.metadata" -}}
{{- $root := index . 0 -}}
metadata:
  name: {{ index . 1 | quote }}
  {{- with index . 2 }}
  namespace: {{ . | quote }}
  {{- end }}
  labels:
    {{- include "fairlead.labels" $root | nindent 4 }}
  {{- with index . 3 }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}

{{/* A role with its binding: dict root, name, namespace ("" for a ClusterRole), account, annotations, rules (text). */}}
{{- define "fairlead.role" -}}
{{- $kind := ternary "Role" "ClusterRole" (ne .namespace "") -}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind | quote }}
{{ include "fairlead.metadata" (list .root .name .namespace .annotations) }}
rules:
{{ .rules | trim }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: {{ $kind }}Binding
{{ include "fairlead.metadata" (list .root .name .namespace .annotations) }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: {{ $kind | quote }}
  name: {{ .name | quote }}
subjects:
- kind: ServiceAccount
  name: {{ .account | quote }}
  namespace: {{ .root.Release.Namespace | quote }}
{{ end -}}

{{/* A creation cannot be limited to a name. */}}
{{- define "fairlead.leaseRules" -}}
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: [{{ . | quote }}]
  verbs: [get, list, watch, update]
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [create]
{{- end -}}

{{/* The beginning of a container: list image, pull policy. */}}
{{- define "fairlead.container" -}}
name: fairlead
image: {{ index . 0 | quote }}
imagePullPolicy: {{ index . 1 | quote }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
{{- end -}}

{{/* The beginning of a pod: list values, account. */}}
{{- define "fairlead.pod" -}}
{{- $webhook := (index . 0).webhook -}}
serviceAccountName: {{ index . 1 | quote }}
securityContext:
  runAsNonRoot: true
  runAsUser: 65532
  runAsGroup: 65532
  seccompProfile:
    type: RuntimeDefault
{{- with $webhook.priorityClassName }}
priorityClassName: {{ . | quote }}
{{- end }}
{{- with $webhook.imagePullSecrets }}
imagePullSecrets:
{{ toYaml . }}
{{- end }}
{{- with $webhook.nodeSelector }}
nodeSelector:
{{ toYaml . | indent 2 }}
{{- end }}
{{- with $webhook.tolerations }}
tolerations:
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "fairlead.privateKey" -}}
privateKey:
  algorithm: ECDSA
  size: 256
  rotationPolicy: Never  # old and new certificates verify each other
{{- end -}}

{{- define "fairlead.hook" -}}
{{- dict "helm.sh/hook" (index . 0) "helm.sh/hook-weight" (index . 1) "helm.sh/hook-delete-policy" "before-hook-creation,hook-succeeded" | toYaml -}}
{{- end -}}

{{- define "fairlead.secretRule" -}}
- apiGroups: [""]
  resources: [secrets]
  resourceNames: [{{ . | quote }}, {{ printf "%s-ca" . | quote }}]
{{- end -}}

{{- define "fairlead.serverRules" -}}
{{- $m := .made }}
{{- if eq $m.mode "automatic" }}
- apiGroups: [""]
  resources: [secrets]
  resourceNames: [{{ $m.secret | quote }}, {{ printf "%s-ca" $m.secret | quote }}]
  verbs: [get, list, watch, update]
- apiGroups: [""]
  resources: [secrets]
  verbs: [create]
- apiGroups: [""]
  resources: [services]
  resourceNames: [{{ $m.name | quote }}]
  verbs: [get]
- apiGroups: [""]
  resources: [configmaps]
  verbs: [create]
{{- else }}
- apiGroups: [""]
  resources: [secrets]
  resourceNames: [{{ $m.secret | quote }}]
  verbs: [get, list, watch]
{{- end }}
- apiGroups: [discovery.k8s.io]
  resources: [endpointslices]
  verbs: [list]
{{- end -}}

{{- define "fairlead.configurationRules" -}}
{{- $m := .made }}
- apiGroups: [admissionregistration.k8s.io]
  resources: [mutatingwebhookconfigurations, validatingwebhookconfigurations]
  verbs: [get, list, watch]
{{- if eq $m.mode "automatic" }}
- apiGroups: [admissionregistration.k8s.io]
  resources: [validatingwebhookconfigurations]
  resourceNames: [{{ $m.configuration | quote }}]
  verbs: [patch]
{{- end }}
{{- if and (not $m.only) .namespaceRestriction.lease.name }}
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: [{{ .namespaceRestriction.lease.name | quote }}]
  verbs: [get, list, watch]
{{- end }}
{{- end -}}

{{- define "fairlead.controllerRules" -}}
- apiGroups: [nvidia.com]
  resources: [dynamocomponentdeployments, dynamographdeployments, dynamomodels]
  verbs: [get, list, watch]
- apiGroups: [nvidia.com]
  resources: [dynamocomponentdeployments/status, dynamographdeployments/status, dynamomodels/status]
  verbs: [patch]
- apiGroups: [""]
  resources: [events]
  verbs: [create]
{{- end -}}
