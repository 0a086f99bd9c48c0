"""All stories with real operators."""
from operators.cert_manager import CertManager
from operators.external_secrets import ExternalSecrets, ExternalSecretsOrphan
from operators.victoria_metrics import VictoriaMetrics, VictoriaMetricsRelease

STORIES = [VictoriaMetrics(), VictoriaMetricsRelease(), ExternalSecrets(), ExternalSecretsOrphan(), CertManager()]
