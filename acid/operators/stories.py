"""All stories with real operators."""
from acid.operators.cert_manager import CertManager
from acid.operators.external_secrets import ExternalSecrets, ExternalSecretsOrphan
from acid.operators.victoria_metrics import VictoriaMetrics, VictoriaMetricsRelease

STORIES = [VictoriaMetrics(), VictoriaMetricsRelease(), ExternalSecrets(), ExternalSecretsOrphan(), CertManager()]
