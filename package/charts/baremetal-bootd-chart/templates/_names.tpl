{{/* The name of a segment's objects. */}}
{{- define "bootd.name" -}}
{{- if .name -}}bootd-{{ .name }}{{- else -}}bootd{{- end -}}
{{- end -}}

{{/* The labels that a segment's pods are selected by. */}}
{{- define "bootd.selector" -}}
app.kubernetes.io/name: bootd
app.kubernetes.io/instance: {{ include "bootd.name" . }}
{{- end -}}

{{/* The port of HTTPS. */}}
{{- define "bootd.https" -}}
{{ .port | default 8483 | int }}
{{- end -}}

{{/* The image, by its digest where that's known. */}}
{{- define "bootd.image" -}}
{{- if and .Values.image.digest .Values.image.tag -}}
{{- fail (printf "image.tag %s beside image.digest, which would win: set image.digest to \"\" to have the tag" .Values.image.tag) -}}
{{- else if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{/* Says yes where the nodes of the first selector are all the second one's: it asks for all that the second asks for. */}}
{{- define "bootd.within" -}}
{{- $first := index . 0 }}
{{- $within := "yes" }}
{{- range $key, $value := index . 1 }}
{{- if or (not (hasKey $first $key)) (ne (toString (get $first $key)) (toString $value)) }}
{{- $within = "no" }}
{{- end }}
{{- end }}
{{- $within }}
{{- end -}}

{{/* Fails where two segments have one name, or one's nodes are the other's: two bootds can't have the same ports of a node. */}}
{{- define "bootd.apart" -}}
{{- $names := dict }}
{{- $nodes := dict }}
{{- range .Values.segments }}
{{- $name := include "bootd.name" . }}
{{- if hasKey $names $name }}
{{- fail (printf "segments: two would be the DaemonSet %s: give each a name of its own" $name) }}
{{- end }}
{{- $these := default dict .nodeSelector }}
{{- range $other, $those := $nodes }}
{{- if or (eq (include "bootd.within" (list $these $those)) "yes") (eq (include "bootd.within" (list $those $these)) "yes") }}
{{- fail (printf "segments: %s and %s choose the same nodes, on which one bootd alone can listen: correct a nodeSelector" $other $name) }}
{{- end }}
{{- end }}
{{- $_ := set $names $name true }}
{{- $_ := set $nodes $name $these }}
{{- end }}
{{- end -}}
