{{/* The seconds of a duration such as 1h30m or 500ms; the schema of the values has checked its form. */}}
{{- define "fairlead.seconds" -}}
{{- $seconds := 0.0 -}}
{{- $units := dict "h" 3600.0 "m" 60.0 "s" 1.0 "ms" 0.001 -}}
{{- range regexFindAll "[0-9]+(?:\\.[0-9]+)?(?:ms|h|m|s)" . -1 -}}
{{- $number := regexFind "[0-9]+(?:\\.[0-9]+)?" . | float64 -}}
{{- $seconds = addf $seconds (mulf $number (index $units (regexFind "(?:ms|h|m|s)$" .))) -}}
{{- end -}}
{{- $seconds -}}
{{- end -}}
