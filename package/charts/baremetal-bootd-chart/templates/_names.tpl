{{/* The name of a segment's objects. */}}
{{- define "bootd.name" -}}
{{- if .name -}}bootd-{{ .name }}{{- else -}}bootd{{- end -}}
{{- end -}}

{{/* The labels that a segment's pods are selected by. */}}
{{- define "bootd.selector" -}}
app.kubernetes.io/name: bootd
app.kubernetes.io/instance: {{ include "bootd.name" . }}
{{- end -}}

{{/* The image, by its digest where that's known. */}}
{{- define "bootd.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}
