// The release of VictoriaMetrics' operator whose CustomResourceDefinitions are used. It is fetched, never built.
module fairlead.dev/acid/operators/victoria-metrics/definitions

go 1.24.0

require github.com/VictoriaMetrics/operator v0.50.0
