{{- define "grader.name" -}}
{{- if contains "grader" .Release.Name }}{{ .Release.Name }}{{ else }}{{ .Release.Name }}-grader{{ end }}
{{- end }}

{{/* Of a part: (list $ "web"). */}}
{{- define "grader.selector" -}}
app.kubernetes.io/name: grader
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end }}

{{- define "grader.labels" -}}
{{ include "grader.selector" . }}
app.kubernetes.io/version: {{ (index . 0).Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ (index . 0).Release.Service }}
helm.sh/chart: grader-{{ (index . 0).Chart.Version }}
{{- end }}

{{/* Of ours: (list $ "server"). */}}
{{- define "grader.image" -}}
{{- $images := (index . 0).Values.images -}}
{{- with $images.registry }}{{ . | trimSuffix "/" }}/{{ end -}}
{{ index $images (index . 1) }}:{{ $images.tag | default (index . 0).Chart.AppVersion }}
{{- end }}

{{- define "grader.imagePullSecrets" -}}
{{- with .Values.images.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- end }}

{{/* Of every pod. Links to Services would be variables: that of a Service "grader" is GRADER_PORT, which is a setting. */}}
{{- define "grader.pod" -}}
enableServiceLinks: false
automountServiceAccountToken: false
{{- with include "grader.imagePullSecrets" (index . 0) }}
{{ . | trim }}
{{- end }}
{{- with (index . 1).nodeSelector }}
nodeSelector: {{ toJson . }}
{{- end }}
{{- with (index . 1).tolerations }}
tolerations: {{ toJson . }}
{{- end }}
{{- end }}

{{- define "grader.confined" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end }}

{{/* Of a pod whose processes are one user of its image: 10001. */}}
{{- define "grader.user" -}}
runAsNonRoot: true
runAsUser: {{ . }}
runAsGroup: {{ . }}
fsGroup: {{ . }}
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end }}

{{/* What every process of the platform is told. Passwords come from the Secret, never from values. */}}
{{- define "grader.environment" -}}
{{- $values := .Values -}}
{{- if $values.postgres.enabled }}
- name: POSTGRES_PASSWORD
  valueFrom: {secretKeyRef: {name: {{ $values.secret }}, key: POSTGRES_PASSWORD}}
- name: GRADER_DATABASE_URL
  value: postgresql+psycopg://grader:$(POSTGRES_PASSWORD)@{{ include "grader.name" . }}-postgres/grader
{{- else }}
- name: GRADER_DATABASE_URL
  valueFrom: {secretKeyRef: {name: {{ $values.secret }}, key: GRADER_DATABASE_URL}}
{{- end }}
{{- if $values.redis.enabled }}
- name: REDIS_PASSWORD
  valueFrom: {secretKeyRef: {name: {{ $values.secret }}, key: REDIS_PASSWORD}}
- name: GRADER_REDIS_URL
  value: redis://:$(REDIS_PASSWORD)@{{ include "grader.name" . }}-redis:6379/0
{{- else }}
- name: GRADER_REDIS_URL
  valueFrom: {secretKeyRef: {name: {{ $values.secret }}, key: GRADER_REDIS_URL}}
{{- end }}
{{- range $name, $value := $values.settings }}
- name: {{ $name }}
  value: {{ ternary (toJson $value) $value (kindIs "float64" $value) | quote }}
{{- end }}
{{- end }}

{{/* Brings the tables up to date, one pod at a time, before a probe may end the pod: a migration takes up to half an hour. */}}
{{- define "grader.upgrade" -}}
- name: upgrade
  image: {{ include "grader.image" (list (index . 0) (index . 1)) }}
  imagePullPolicy: {{ (index . 0).Values.images.pullPolicy }}
  command: [grader, db, upgrade]
  securityContext: {{- include "grader.confined" . | nindent 4 }}
  resources:
    requests: {cpu: 100m, memory: 256Mi}
    limits: {memory: 512Mi}
{{- end }}

{{/* The pod of a worker: (dict "root" $ "name" NAME "pool" POOL "arguments" LIST "probes" BOOLEAN). */}}
{{- define "grader.worker" -}}
{{- $root := .root -}}
{{- $engine := $root.Values.workers.engine -}}
{{- $gpus := int (.pool.gpus | default 0) -}}
{{- if not $engine.socket }}
{{- fail (printf "\nworkers.engine.socket is empty, but the pool %s needs workers: they start boxes in a Docker engine of their node.\nName its socket, such as /var/run/docker.sock, or leave the pool out and run its workers on the hosts (docs/deploying.md, On Kubernetes)." .name) }}
{{- end -}}
{{ include "grader.pod" (list $root .pool) }}
serviceAccountName: {{ include "grader.name" $root }}
{{- with $root.Values.workers.runtimeClass }}
{{- if $gpus }}
runtimeClassName: {{ . }}
{{- end }}
{{- end }}
hostPID: {{ $engine.hostPID }}
terminationGracePeriodSeconds: 60
# Root, because the engine's socket is root's: another user would only look safer. Without capabilities.
securityContext:
  runAsUser: 0
  runAsGroup: 0
  seccompProfile: {type: RuntimeDefault}
initContainers:
  {{- include "grader.upgrade" (list $root "worker") | nindent 2 }}
    env: {{- include "grader.environment" $root | nindent 6 }}
    volumeMounts:
      - {name: scratch, mountPath: /tmp, subPath: tmp}
      - {name: scratch, mountPath: /data, subPath: data}
containers:
  - name: worker
    image: {{ include "grader.image" (list $root "worker") }}
    imagePullPolicy: {{ $root.Values.images.pullPolicy }}
    command: [grader]
    args: {{ toJson .arguments }}
    securityContext: {{- include "grader.confined" $root | nindent 6 }}
    env: {{- include "grader.environment" $root | nindent 6 }}
      - {name: GRADER_BOX, value: docker}
      - {name: GRADER_BOX_IMAGE, value: {{ include "grader.image" (list $root "box") }}}
      - {name: GRADER_GPU_ACCESS, value: {{ $engine.gpuAccess }}}
      - {name: GRADER_LOCK_DIR, value: /run/lock/grader}
      # On the pod's own loopback: probes ask it.
      - {name: GRADER_METRICS_PORT, value: "9464"}
      - {name: DOCKER_HOST, value: unix:///run/engine.sock}
      # Sockets between worker and boxes lie here: the engine must see the folder under the same name.
      - {name: TMPDIR, value: {{ $engine.folder }}}
      {{- if $gpus }}
      - {name: NVIDIA_DRIVER_CAPABILITIES, value: "compute,utility"}
      {{- end }}
    resources: {{- include "grader.workerResources" . | nindent 6 }}
    {{- if .probes }}
    # A worker listens for nobody: that it serves its counts shows that it runs. An engine that starts again has a new socket, which
    # only a new container sees.
    startupProbe:
      exec: &alive
        command:
          - python3
          - -c
          - |
            import socket, urllib.request
            urllib.request.urlopen("http://127.0.0.1:9464/metrics", timeout=8).close()
            socket.socket(socket.AF_UNIX).connect("/run/engine.sock")
      periodSeconds: 10
      timeoutSeconds: 10
      failureThreshold: 60
    readinessProbe:
      exec: *alive
      periodSeconds: 30
      timeoutSeconds: 10
    livenessProbe:
      exec: *alive
      periodSeconds: 60
      timeoutSeconds: 10
      failureThreshold: 5
    {{- end }}
    volumeMounts:
      - {name: engine, mountPath: /run/engine.sock}
      - {name: boxes, mountPath: {{ $engine.folder }}}
      - {name: locks, mountPath: /run/lock/grader}
      - {name: scratch, mountPath: /tmp, subPath: tmp}
      - {name: scratch, mountPath: /data, subPath: data}
volumes:
  - name: engine
    hostPath: {path: {{ $engine.socket }}, type: Socket}
  - name: boxes
    hostPath: {path: {{ $engine.folder }}, type: DirectoryOrCreate}
  # All platforms of a node lock its GPUs here.
  - name: locks
    hostPath: {path: /run/lock/grader, type: DirectoryOrCreate}
  - name: scratch
    emptyDir: {sizeLimit: 4Gi}
{{- end }}

{{- define "grader.workerResources" -}}
{{- $resources := deepCopy (.pool.resources | default .root.Values.workers.resources) -}}
{{- with .pool.gpus }}
{{- $limits := merge (dict "nvidia.com/gpu" (int .)) ($resources.limits | default dict) -}}
{{- $_ := set $resources "limits" $limits -}}
{{- end -}}
{{ toYaml $resources }}
{{- end }}
