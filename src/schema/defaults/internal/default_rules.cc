#include "schema/defaults/internal/default_rules.h"

namespace fairlead::schema {

const std::string_view kDefaultRules = R"~(
# ---- pods ----
core.v1.Pod
  spec.containers[].resources.requests fills from spec.containers[].resources.limits
  spec.initContainers[].resources.requests fills from spec.initContainers[].resources.limits
  spec.enableServiceLinks = true
  spec.containers[].ports[].hostPort = $containerPort when spec.hostNetwork is true
  spec.initContainers[].ports[].hostPort = $containerPort when spec.hostNetwork is true
core.v1.PodSpec
  dnsPolicy = "ClusterFirst"
  restartPolicy = "Always"
  securityContext = {}
  terminationGracePeriodSeconds = 30
  schedulerName = "default-scheduler"
core.v1.Container
  imagePullPolicy = "Always" when image is latest
  imagePullPolicy = "IfNotPresent"
  terminationMessagePath = "/dev/termination-log"
  terminationMessagePolicy = "File"
core.v1.Probe
  timeoutSeconds = 1
  periodSeconds = 10
  successThreshold = 1
  failureThreshold = 3
  grpc.service = ""
core.v1.HTTPGetAction
  path = "/"
  scheme = "HTTP"
core.v1.ObjectFieldSelector
  apiVersion = "v1"
core.v1.Volume
  emptyDir = {} when only name
core.v1.SecretVolumeSource
  defaultMode = 420
core.v1.ConfigMapVolumeSource
  defaultMode = 420
core.v1.DownwardAPIVolumeSource
  defaultMode = 420
core.v1.ProjectedVolumeSource
  defaultMode = 420
core.v1.ServiceAccountTokenProjection
  expirationSeconds = 3600
core.v1.HostPathVolumeSource
  type = ""

# ---- core ----
core.v1.ReplicationController
  spec.selector = $/spec.template.metadata.labels
  metadata.labels = $/spec.template.metadata.labels
core.v1.ServiceSpec
  sessionAffinity = "None"
  sessionAffinityConfig drops when sessionAffinity is "None"
  sessionAffinityConfig := {"clientIP":{"timeoutSeconds":10800}} when sessionAffinity is "ClientIP" and sessionAffinityConfig.clientIP.timeoutSeconds is unset
  type = "ClusterIP"
  ports[].targetPort = $port
  externalTrafficPolicy = "Cluster" when type is "NodePort"
  externalTrafficPolicy = "Cluster" when type is "LoadBalancer"
  externalTrafficPolicy = "Cluster" when type is "ClusterIP" and externalIPs is set
  internalTrafficPolicy = "Cluster" when type is not "ExternalName"
  allocateLoadBalancerNodePorts = true when type is "LoadBalancer"
core.v1.Endpoints
  subsets[].ports[].protocol = "TCP"
core.v1.Secret
  type = "Opaque"
core.v1.Namespace
  metadata.labels = {}
  metadata.labels["kubernetes.io/metadata.name"] := $/metadata.name
core.v1.NamespaceStatus
  phase = "Active"
core.v1.NodeStatus
  allocatable = $capacity
core.v1.PersistentVolume
  status.phase = "Pending"
  spec.persistentVolumeReclaimPolicy = "Retain"
  spec.volumeMode = "Filesystem"
core.v1.PersistentVolumeClaim
  status.phase = "Pending"
core.v1.PersistentVolumeClaimSpec
  volumeMode = "Filesystem"
core.v1.LimitRangeItem
  default fills from max when type is "Container"
  defaultRequest fills from default when type is "Container"
  defaultRequest fills from min when type is "Container"

# ---- apps ----
apps.v1.DeploymentSpec
  replicas = 1
  strategy.type = "RollingUpdate"
  strategy.rollingUpdate = {} when strategy.type is "RollingUpdate"
  strategy.rollingUpdate.maxUnavailable = "25%" when strategy.type is "RollingUpdate"
  strategy.rollingUpdate.maxSurge = "25%" when strategy.type is "RollingUpdate"
  revisionHistoryLimit = 10
  progressDeadlineSeconds = 600
apps.v1.DaemonSetSpec
  updateStrategy.type = "RollingUpdate"
  updateStrategy.rollingUpdate = {} when updateStrategy.type is "RollingUpdate"
  updateStrategy.rollingUpdate.maxUnavailable = 1 when updateStrategy.type is "RollingUpdate"
  updateStrategy.rollingUpdate.maxSurge = 0 when updateStrategy.type is "RollingUpdate"
  revisionHistoryLimit = 10
apps.v1.StatefulSetSpec
  podManagementPolicy = "OrderedReady"
  updateStrategy.rollingUpdate = {} when updateStrategy.type is unset
  updateStrategy.type = "RollingUpdate"
  updateStrategy.rollingUpdate.partition = 0 when updateStrategy.type is "RollingUpdate"
  updateStrategy.rollingUpdate.maxUnavailable = 1 when updateStrategy.type is "RollingUpdate"
  persistentVolumeClaimRetentionPolicy = {}
  persistentVolumeClaimRetentionPolicy.whenDeleted = "Retain"
  persistentVolumeClaimRetentionPolicy.whenScaled = "Retain"
  replicas = 1
  revisionHistoryLimit = 10
apps.v1.ReplicaSetSpec
  replicas = 1

# ---- batch ----
batch.v1.Job
  metadata.labels = $/spec.template.metadata.labels
  spec.completions = 1 when spec.parallelism is unset
  spec.parallelism = 1
  spec.backoffLimit = 2147483647 when spec.backoffLimitPerIndex is set
  spec.backoffLimit = 6
  spec.completionMode = "NonIndexed"
  spec.suspend = false
  spec.podReplacementPolicy = "Failed" when spec.podFailurePolicy is set
  spec.podReplacementPolicy = "TerminatingOrFailed"
  spec.manualSelector = false
batch.v1.CronJobSpec
  concurrencyPolicy = "Allow"
  suspend = false
  successfulJobsHistoryLimit = 3
  failedJobsHistoryLimit = 1
batch.v1.PodFailurePolicyOnPodConditionsPattern
  status = "True"

# ---- autoscaling ----
autoscaling.v1.HorizontalPodAutoscalerSpec
  minReplicas = 1
autoscaling.v2.HorizontalPodAutoscalerSpec
  minReplicas = 1
  metrics = [{"type":"Resource","resource":{"name":"cpu","target":{"type":"Utilization","averageUtilization":80}}}]
autoscaling.v2.HorizontalPodAutoscalerBehavior
  scaleUp = {}
  scaleUp.stabilizationWindowSeconds = 0
  scaleUp.selectPolicy = "Max"
  scaleUp.policies = [{"type":"Pods","value":4,"periodSeconds":15},{"type":"Percent","value":100,"periodSeconds":15}]
  scaleDown = {}
  scaleDown.selectPolicy = "Max"
  scaleDown.policies = [{"type":"Percent","value":100,"periodSeconds":15}]

# ---- networking, discovery ----
networking.v1.NetworkPolicyPort
  protocol = "TCP"
networking.v1.NetworkPolicySpec
  policyTypes = ["Ingress","Egress"] when egress is set
  policyTypes = ["Ingress"]
networking.v1.IngressClassSpec
  parameters.scope = "Cluster"
discovery.v1.EndpointPort
  name = ""
  protocol = "TCP"

# ---- rbac ----
rbac.v1.RoleBinding
  roleRef.apiGroup = "rbac.authorization.k8s.io"
rbac.v1.ClusterRoleBinding
  roleRef.apiGroup = "rbac.authorization.k8s.io"
rbac.v1.Subject
  apiGroup = "rbac.authorization.k8s.io" when kind is "User"
  apiGroup = "rbac.authorization.k8s.io" when kind is "Group"

# ---- storage, scheduling ----
storage.v1.StorageClass
  reclaimPolicy = "Delete"
  volumeBindingMode = "Immediate"
storage.v1.CSIDriverSpec
  attachRequired = true
  podInfoOnMount = false
  storageCapacity = false
  fsGroupPolicy = "ReadWriteOnceWithFSType"
  volumeLifecycleModes = ["Persistent"]
  requiresRepublish = false
  seLinuxMount = false
  preventPodSchedulingIfMissing = false
scheduling.v1.PriorityClass
  preemptionPolicy = "PreemptLowerPriority"

# ---- admission ----
admissionregistration.v1.ValidatingWebhook
  failurePolicy = "Fail"
  matchPolicy = "Equivalent"
  namespaceSelector = {}
  objectSelector = {}
  timeoutSeconds = 10
admissionregistration.v1.MutatingWebhook
  failurePolicy = "Fail"
  matchPolicy = "Equivalent"
  namespaceSelector = {}
  objectSelector = {}
  timeoutSeconds = 10
  reinvocationPolicy = "Never"
admissionregistration.v1.RuleWithOperations
  scope = "*"
admissionregistration.v1.NamedRuleWithOperations
  scope = "*"
admissionregistration.v1.ServiceReference
  port = 443
admissionregistration.v1.ValidatingAdmissionPolicySpec
  failurePolicy = "Fail"
admissionregistration.v1.MutatingAdmissionPolicySpec
  failurePolicy = "Fail"
admissionregistration.v1.MatchResources
  matchPolicy = "Equivalent"
  namespaceSelector = {}
  objectSelector = {}

# ---- definitions and aggregation ----
apiextensions.v1.CustomResourceDefinitionSpec
  names.singular = lower $kind
  names.listKind = $kind + "List"
  conversion = {"strategy":"None"}
apiextensions.v1.ServiceReference
  port = 443
apiregistration.v1.ServiceReference
  port = 443

# ---- flow control ----
flowcontrol.v1.FlowSchemaSpec
  matchingPrecedence := 1000 when matchingPrecedence is 0
flowcontrol.v1.LimitedPriorityLevelConfiguration
  nominalConcurrencyShares = 30
  lendablePercent = 0
flowcontrol.v1.QueuingConfiguration
  handSize := 8 when handSize is 0
  queues := 64 when queues is 0
  queueLengthLimit := 50 when queueLengthLimit is 0
)~";

}  // namespace fairlead::schema
