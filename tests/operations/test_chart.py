"""The Helm chart, rendered by Helm itself: against Kubernetes' schemas and what SECURITY.md promises. No cluster."""

from __future__ import annotations

import json
import re
import socket
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from flask import Flask

from grader import metrics
from grader.metrics import host
from grader.oidc_settings import OidcProvider
from grader.queue.fleet.plan import read_fleet
from grader.queue.fleet.providers import Launch, provider_of
from grader.schemas.fleet import FleetView, PoolView
from grader.settings import Settings, load_settings
from grader.web.probes import probes
from tests.components import need
from tests.operations.helm import CHART, Helm
from tests.queue.fleet.kubernetes_api import kubeconfig, served
from tests.web import builders

ROOT = CHART.parents[1]
OWN = {"ipBlock": {"cidr": "10.0.0.5/32"}}
OWN_STORES: dict[str, Any] = {
    "secret": "grader",
    "postgres": {"enabled": False},
    "redis": {"enabled": False},
    "networkPolicy": {"postgres": [OWN], "redis": [OWN]},
}
ENGINE = {"socket": "/run/grader-engine/docker.sock"}
POOLS = {
    "h200": {
        "gpus": 1,
        "compilers": 2,
        "replicas": 2,
        "nodeSelector": {"gpu": "h200"},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}],
    },
    "compile": {"compilers": 4},
    "emulated": {"device": "emulated"},
}
FLEET = {
    "enabled": True,
    "pools": {
        "h100": {
            "device": "h100", "gpus": 1, "max": 4, "target": "5m", "seconds": 2.5, "cost_per_hour": 2,
            "cost_per_day": 40, "labels": {"kueue.x-k8s.io/queue-name": "gpus"},
        },
        "compile": {"device": "compile", "max": 2},
    },
}  # fmt: skip
SETS: dict[str, dict[str, Any]] = {
    "least": {"secret": "grader"},
    "all": {
        "secret": "grader",
        "settings": {"GRADER_DEVICES": "h200,emulated", "GRADER_QUOTA": 40, "GRADER_LEASE_S": 22.5},
        "images": {"registry": "registry.uni.edu/gpu", "pullSecrets": ["pull"]},
        "web": {"replicas": 2, "data": {"accessMode": "ReadWriteMany", "storageClass": "nfs"}},
        "ingress": {
            "enabled": True,
            "className": "nginx",
            "host": "kernels.uni.edu",
            "tlsSecret": "kernels-tls",
            "annotations": {"nginx.ingress.kubernetes.io/proxy-body-size": "2m"},
        },
        "workers": {"engine": ENGINE, "runtimeClass": "nvidia", "pools": POOLS},
        "fleet": FLEET,
        "networkPolicy": {"api": [{"ipBlock": {"cidr": "10.0.0.1/32"}}]},
    },
    "own stores": OWN_STORES | {"settings": {"GRADER_OIDC__UNI__ISSUER": "https://login.uni.edu"}},
    "workers alone": OWN_STORES | {"web": {"enabled": False}, "workers": {"engine": ENGINE, "pools": POOLS}},
}
# Chosen by the chart or kept in the Secret.
NOT_OFFERED = {
    "data_dir", "database_url", "redis_url", "challenges", "box", "box_image", "gpu_access", "lock_dir",
    "metrics_port", "port", "device", "gpu", "oidc", "smtp_password", "metrics_token",
    "worker_server", "worker_token",
}  # fmt: skip
OTHER_VARIABLES = {
    "POSTGRES_PASSWORD", "POSTGRES_USER", "POSTGRES_DB", "PGDATA", "REDIS_PASSWORD", "REDISCLI_AUTH",
    "DOCKER_HOST", "TMPDIR", "NVIDIA_DRIVER_CAPABILITIES",
}  # fmt: skip

Objects = list[dict[str, Any]]


@pytest.fixture(scope="module")
def helm(tmp_path_factory: pytest.TempPathFactory) -> Helm:
    need("helm")
    return Helm(tmp_path_factory.mktemp("helm"))


@pytest.fixture(scope="module", params=SETS)
def objects(request: pytest.FixtureRequest, helm: Helm) -> Objects:
    return helm.objects(SETS[request.param])


@pytest.fixture(scope="module")
def everything(helm: Helm) -> Objects:
    return helm.objects(SETS["all"])


def kinds(objects: Objects, *kinds: str) -> Objects:
    return [found for found in objects if found["kind"] in kinds]


def one(objects: Objects, kind: str, name: str) -> dict[str, Any]:
    (found,) = [found for found in kinds(objects, kind) if found["metadata"]["name"] == name]
    return found


def job_templates(objects: Objects) -> Iterator[dict[str, Any]]:
    for found in kinds(objects, "ConfigMap"):
        for name, text in found["data"].items():
            if name.endswith(".yaml"):
                yield yaml.load(text, yaml.CSafeLoader)


def pods(objects: Objects) -> list[tuple[dict[str, str], dict[str, Any]]]:
    """Labels and specification, of pilots too."""
    templates = [found["spec"]["template"] for found in kinds(objects, "Deployment", "StatefulSet")]
    templates += [job["spec"]["template"] for job in job_templates(objects)]
    return [(template["metadata"]["labels"], template["spec"]) for template in templates]


def containers(pod: dict[str, Any]) -> Objects:
    return [*pod.get("initContainers", []), *pod["containers"]]


def is_worker(pod: dict[str, Any]) -> bool:
    return "worker" in [container["name"] for container in pod["containers"]]


def check(found: dict[str, Any]) -> None:
    """By the oldest Kubernetes of the chart and the newest that the package knows. Raises ValidationError."""
    import kubernetes_validate as schemas

    (oldest,) = re.findall(r'kubeVersion: ">=(\d+\.\d+)', (CHART / "Chart.yaml").read_text())
    for version in (oldest, schemas.latest_version()):
        schemas.validate(found, version, strict=True)


def test_kubernetes_knows_every_field(objects: Objects) -> None:
    for found in [*objects, *job_templates(objects)]:
        check(found)


def test_an_unknown_field_is_found(everything: Objects) -> None:
    import kubernetes_validate as schemas

    wrong = json.loads(json.dumps(one(everything, "Deployment", "grader-web")))
    wrong["spec"]["template"]["spec"]["containers"][0]["securityContext"]["readOnly"] = True
    with pytest.raises(schemas.ValidationError, match="readOnly"):
        check(wrong)


@pytest.mark.parametrize("values", SETS)
def test_helm_finds_no_fault(helm: Helm, values: str) -> None:
    done = helm.run("lint", "--strict", str(CHART), values=SETS[values])
    assert done.returncode == 0, done.stdout


def test_no_pod_is_privileged(objects: Objects) -> None:
    for _, pod in pods(objects):
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        for container in containers(pod):
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }
            assert container["resources"]["limits"]["memory"]


def test_only_workers_touch_their_node(objects: Objects) -> None:
    for labels, pod in pods(objects):
        mounted = [volume["hostPath"]["path"] for volume in pod["volumes"] if "hostPath" in volume]
        if is_worker(pod):
            assert mounted == [ENGINE["socket"], "/run/grader-boxes", "/run/lock/grader"]
            assert labels["grader/role"] == "worker"
        else:
            # What the Pod Security Standard "restricted" asks of a pod.
            assert (mounted, "hostPID" in pod) == ([], False)
            assert pod["securityContext"]["runAsNonRoot"] is True
            assert pod["securityContext"]["runAsUser"] > 0
        assert not {"hostNetwork", "hostIPC"} & pod.keys()


def test_only_the_fleet_has_a_token(everything: Objects) -> None:
    with_token = []
    for labels, pod in pods(everything):
        assert pod["automountServiceAccountToken"] is False
        if "serviceAccountToken" in json.dumps(pod):
            with_token.append(labels["app.kubernetes.io/component"])
    assert with_token == ["fleet"]
    (role,) = kinds(everything, "Role")
    assert role["rules"] == [
        {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["create", "list", "delete"]}
    ]
    assert kinds(everything, "ClusterRole", "ClusterRoleBinding") == []


def test_no_secret_is_in_the_chart(objects: Objects) -> None:
    assert kinds(objects, "Secret") == []
    for _, pod in pods(objects):
        for variable in (variable for container in containers(pod) for variable in container.get("env", [])):
            if re.search("PASSWORD|AUTH", variable["name"]):
                assert variable["valueFrom"]["secretKeyRef"]["name"] == "grader"


def test_every_variable_is_a_setting(objects: Objects) -> None:
    settings = {f"GRADER_{name.upper()}" for name in Settings.model_fields}
    settings |= {f"GRADER_OIDC__UNI__{name.upper()}" for name in OidcProvider.model_fields}
    named = {
        variable["name"]
        for _, pod in pods(objects)
        for container in containers(pod)
        for variable in container.get("env", [])
    }
    assert named - settings - OTHER_VARIABLES == set()


def test_a_services_name_sets_no_setting(objects: Objects) -> None:
    """Links to a Service "grader" would set GRADER_PORT to an address."""
    assert [pod["enableServiceLinks"] for _, pod in pods(objects)] == [False] * len(pods(objects))


def environment(container: dict[str, Any], secret: dict[str, str]) -> dict[str, str]:
    """As the kubelet makes it: a name in $() stands for a variable before it."""
    made: dict[str, str] = {}
    for variable in container["env"]:
        if "value" in variable:
            text = re.sub(r"\$\((\w+)\)", lambda found: made[found[1]], variable["value"])
        else:
            text = secret[variable["valueFrom"]["secretKeyRef"]["key"]]
        made[variable["name"]] = text
    return made


def test_the_platform_accepts_its_variables(everything: Objects, monkeypatch: pytest.MonkeyPatch) -> None:
    pod = one(everything, "Deployment", "grader-web")["spec"]["template"]["spec"]
    example = (ROOT / "images" / "example.env").read_text()
    secret = dict.fromkeys(re.findall(r"^(\w+)=$", example, re.MULTILINE), "secret")
    for name, value in environment(pod["containers"][0], secret).items():
        monkeypatch.setenv(name, value)
    settings = load_settings()
    assert settings.sql_url == "postgresql+psycopg://grader:secret@grader-postgres/grader"
    assert settings.queue_url == "redis://:secret@grader-redis:6379/0"
    assert (settings.url, settings.proxies) == ("https://kernels.uni.edu", 1)
    assert (settings.quota, settings.lease_s, settings.device_list) == (40, 22.5, ["h200", "emulated"])


def test_images_are_named_as_in_compose(helm: Helm) -> None:
    compose = (ROOT / "compose.yaml").read_text()
    named = dict(re.findall(r"image: \$\{(\w+)_IMAGE:-([^}]+)\}", compose))
    images = yaml.safe_load((CHART / "values.yaml").read_text())["images"]
    assert {part: images["server" if part == "WEB" else part.lower()] for part in named} == named
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    used = {
        container["image"]
        for _, pod in pods(helm.objects(SETS["least"] | {"workers": {"engine": ENGINE, "pools": POOLS}}))
        for container in containers(pod)
    }
    assert used == {f"grader-server:{version}", f"grader-worker:{version}", "postgres:17", "redis:8"}


def test_every_pod_that_stays_is_probed(objects: Objects) -> None:
    for found in kinds(objects, "Deployment", "StatefulSet"):
        (container,) = found["spec"]["template"]["spec"]["containers"]
        assert {"startupProbe", "readinessProbe", "livenessProbe"} <= container.keys()


def test_the_web_is_probed_at_its_endpoints(everything: Objects) -> None:
    pod = one(everything, "Deployment", "grader-web")["spec"]["template"]["spec"]
    web = pod["containers"][0]
    paths = {web[f"{probe}Probe"]["httpGet"]["path"] for probe in ("startup", "readiness", "liveness")}
    app = Flask("probed")
    app.register_blueprint(probes)
    assert paths == {"/health", "/ready"}
    assert paths <= {rule.rule for rule in app.url_map.iter_rules()}


def test_a_workers_probe_sees_its_counts_and_its_engine(everything: Objects, tmp_path: Path) -> None:
    worker = one(everything, "Deployment", "grader-worker-h200")["spec"]["template"]["spec"]["containers"][0]
    script = worker["livenessProbe"]["exec"]["command"][2]
    port = environment(worker, {"POSTGRES_PASSWORD": "", "REDIS_PASSWORD": ""})["GRADER_METRICS_PORT"]
    engine = tmp_path / "engine.sock"

    def alive(at: int) -> bool:
        own = script.replace(port, str(at)).replace("/run/engine.sock", str(engine))
        assert own.count(str(engine)) == own.count(f":{at}/") == 1
        return subprocess.run([sys.executable, "-c", own], capture_output=True, check=False).returncode == 0

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        at = free.getsockname()[1]
    settings = builders.make_settings(tmp_path, metrics_port=at)
    folder = metrics.folder_of(settings)
    folder.mkdir(parents=True)
    served_here = host.serve(settings, folder)
    assert served_here is not None
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(engine))
            listener.listen()
            assert alive(at)
        assert not alive(at), "the engine has started again"
    finally:
        served_here.close()


@pytest.mark.parametrize("controlled", [True, False])
def test_the_fleets_probe_sees_a_controller(everything: Objects, tmp_path: Path, controlled: bool) -> None:
    fleet = one(everything, "Deployment", "grader-fleet")["spec"]["template"]["spec"]["containers"][0]
    shell = fleet["livenessProbe"]["exec"]["command"]
    pool = PoolView(
        name="h100", device="h100", controlled=controlled, controller="", waiting=0, wanted=0, pending=0,
        running=0, spent=0,
    )  # fmt: skip
    said = tmp_path / "status.json"
    said.write_text(FleetView(pools=[pool]).model_dump_json(indent=2))
    own = [word.replace("grader fleet status --json", f"cat {said}") for word in shell]
    assert own != shell
    assert (subprocess.run(own, check=False).returncode == 0) is controlled


def test_documented_values_are_accepted(helm: Helm) -> None:
    page = (ROOT / "docs" / "deploying.md").read_text()
    section = page.partition("\n## On Kubernetes\n")[2].partition("\n## ")[0]
    found = [yaml.safe_load(block) for block in re.findall(r"^```yaml\n(.*?)^```", section, re.M | re.S)]
    assert [sorted(values) for values in found] == [
        ["images", "ingress", "networkPolicy", "secret", "settings"], ["workers"],
    ]  # fmt: skip
    for values in found:
        assert kinds(helm.objects({"secret": "grader"} | values), "Deployment")


# Who may open a connection to whom, and on which port; a name in capitals is outside.
DNS = {("DNS", 53)}
STORES = {("postgres", 5432), ("redis", 6379)}


def reached(objects: Objects, labels: dict[str, str], spec: str) -> set[tuple[str, int]]:
    """What policies let the pod with ``labels`` reach (``egress``), or let reach it (``ingress``)."""
    names = {"kubernetes.io/metadata.name": {"kube-system": "DNS", "ingress-nginx": "PROXY"}}
    found = set()
    for policy in kinds(objects, "NetworkPolicy"):
        if not policy["spec"]["podSelector"]["matchLabels"].items() <= labels.items():
            continue
        for rule in policy["spec"].get(spec, []):
            for peer in rule["from" if spec == "ingress" else "to"]:
                if "ipBlock" in peer:
                    ends = [peer["ipBlock"]["cidr"]]
                elif "namespaceSelector" in peer:
                    ((label, value),) = peer["namespaceSelector"]["matchLabels"].items()
                    ends = [names[label][value]]
                else:
                    chosen = peer["podSelector"]["matchLabels"].items()
                    ends = [
                        other["app.kubernetes.io/component"]
                        for other, _ in pods(objects)
                        if chosen <= other.items()
                    ]
                found |= {(end, port["port"]) for end in ends for port in rule["ports"]}
    return found


def test_pods_reach_only_what_they_need(everything: Objects) -> None:
    workers = {"worker-h200", "worker-compile", "worker-emulated", "pilot-h100", "pilot-compile"}
    out = {
        "web": DNS | STORES,
        "fleet": DNS | STORES | {("10.0.0.1/32", 6443)},
        "postgres": set(),
        "redis": set(),
    }
    out |= dict.fromkeys(workers, DNS | STORES)
    into: dict[str, set[tuple[str, int]]] = {"web": {("PROXY", 8000)}, "fleet": set()}
    into |= {worker: set() for worker in workers}
    into |= {store: {(client, port) for client in {"web", "fleet"} | workers} for store, port in STORES}
    named = {labels["app.kubernetes.io/component"]: labels for labels, _ in pods(everything)}
    assert {name: reached(everything, labels, "egress") for name, labels in named.items()} == out
    assert {name: reached(everything, labels, "ingress") for name, labels in named.items()} == into


def test_every_pod_is_cut_off_by_default(objects: Objects) -> None:
    (policy,) = [found for found in kinds(objects, "NetworkPolicy") if found["metadata"]["name"] == "grader"]
    assert policy["spec"].keys() == {"podSelector", "policyTypes"}
    assert policy["spec"]["policyTypes"] == ["Ingress", "Egress"]
    for labels, _ in pods(objects):
        assert policy["spec"]["podSelector"]["matchLabels"].items() <= labels.items()


def test_ones_own_stores_are_reached_where_they_are(helm: Helm) -> None:
    found = helm.objects(SETS["workers alone"])
    assert {labels["app.kubernetes.io/component"] for labels, _ in pods(found)} == {
        "worker-h200", "worker-compile", "worker-emulated",
    }  # fmt: skip
    for labels, pod in pods(found):
        assert reached(found, labels, "egress") == DNS | {("10.0.0.5/32", 5432), ("10.0.0.5/32", 6379)}
        secret = {"GRADER_DATABASE_URL": "one", "GRADER_REDIS_URL": "two"}
        made = environment(pod["containers"][0], secret)
        assert (made["GRADER_DATABASE_URL"], made["GRADER_REDIS_URL"]) == ("one", "two")


def test_nodes_can_be_emptied(everything: Objects) -> None:
    """Each budget lets one pod go, and is of a part that has more."""
    budgets = kinds(everything, "PodDisruptionBudget")
    assert {budget["metadata"]["name"] for budget in budgets} == {"grader-web", "grader-worker-h200"}
    for budget in budgets:
        part = one(everything, "Deployment", budget["metadata"]["name"])
        assert budget["spec"]["selector"] == part["spec"]["selector"]
        assert part["spec"]["replicas"] > budget["spec"]["maxUnavailable"] == 1


def test_one_web_lets_go_of_its_volume_first(helm: Helm, everything: Objects) -> None:
    single = one(helm.objects(SETS["least"]), "Deployment", "grader-web")["spec"]
    assert (single["replicas"], single["strategy"]) == (1, {"type": "Recreate"})
    several = one(everything, "Deployment", "grader-web")["spec"]
    assert several["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": 1}


def test_gpus_are_asked_for(everything: Objects) -> None:
    for labels, pod in pods(everything):
        wants = labels["app.kubernetes.io/component"] in ("worker-h200", "pilot-h100")
        limits = pod["containers"][0]["resources"]["limits"]
        assert limits.get("nvidia.com/gpu") == (1 if wants else None)
        assert pod.get("runtimeClassName") == ("nvidia" if wants else None)


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("worker-h200", ["worker", "--gpu", "all", "--compile", "2"]),
        ("worker-compile", ["worker", "--compile", "4"]),
        ("worker-emulated", ["worker", "--device", "emulated"]),
    ],
)
def test_workers_serve_what_their_pool_says(everything: Objects, part: str, words: list[str]) -> None:
    pod = one(everything, "Deployment", f"grader-{part}")["spec"]["template"]["spec"]
    assert (pod["containers"][0]["command"], pod["containers"][0]["args"]) == (["grader"], words)


def test_the_fleet_starts_jobs(everything: Objects, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The file as its program reads it, and the Jobs as its Kubernetes client sends them."""
    for name, text in one(everything, "ConfigMap", "grader-fleet")["data"].items():
        (tmp_path / name).write_text(text)
    fleet = read_fleet(tmp_path / "fleet.toml")
    assert (fleet.pools["h100"].max, fleet.pools["h100"].target) == (4, 300)
    sent = {}
    with served() as server:
        monkeypatch.setenv("KUBECONFIG", str(kubeconfig(server, tmp_path)))
        for name, pool in fleet.pools.items():
            handle = provider_of(pool, tmp_path).launch(Launch(f"grader-{name}-1", name, pool))
            sent[name] = server.jobs[handle]
    for job in sent.values():
        job.pop("status")
        check(job)
    assert sent["h100"]["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "gpus"
    said = {name: job["spec"]["template"]["spec"]["containers"][0]["args"] for name, job in sent.items()}
    assert said["h100"][:5] == ["worker", "--gpu", "all", "--name", "grader-h100-1"]
    assert said["compile"][:3] == ["worker", "--compile", "1"]


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "no secret": ({"secret": ""}, "secret is empty"),
    "an unknown value": ({"webb": {}}, "'webb' not allowed"),
    "an unknown setting": ({"settings": {"GRADER_QUOTAS": 1}}, "'GRADER_QUOTAS'"),
    "a secret among settings": ({"settings": {"GRADER_SMTP_PASSWORD": "x"}}, "'GRADER_SMTP_PASSWORD'"),
    "a client's secret": ({"settings": {"GRADER_OIDC__UNI__CLIENT_SECRET": "x"}}, "CLIENT_SECRET'"),
    "a number in words": ({"web": {"replicas": "two"}}, "'/web/replicas': got string, want integer"),
    "two webs with their own secrets": ({"web": {"replicas": 2}}, "Set web.data.accessMode=ReadWriteMany"),
    "an Ingress for nobody": ({"ingress": {"enabled": True}}, "'/ingress/host'"),
    "workers without an engine": (
        {"workers": {"pools": {"h200": {"gpus": 1}}}},
        "workers.engine.socket is empty, but the pool workers.pools.h200 needs",
    ),
    "a fleet without an engine": (
        {"fleet": FLEET, "networkPolicy": {"api": [OWN]}},
        "workers.engine.socket is empty, but the pool fleet.pools.compile needs",
    ),
    "a pool of nothing": (
        {"workers": {"engine": ENGINE, "pools": {"h200": {"replicas": 1}}}},
        "workers.pools.h200 says nothing to do",
    ),
    "a GPU of another board": (
        {"workers": {"engine": ENGINE, "pools": {"h200": {"gpus": 1, "device": "cpu"}}}},
        "the GPU's model names the board",
    ),
    "a fleet without pools": ({"fleet": {"enabled": True}, "networkPolicy": {"api": [OWN]}}, "fleet.pools is empty"),
    "a pool without end": ({"fleet": {"pools": {"h200": {"device": "h200"}}}}, "missing property 'max'"),
    "a fleet without an API": ({"fleet": FLEET, "workers": {"engine": ENGINE}}, "networkPolicy.api is empty"),
    "a database behind a wall": ({"postgres": {"enabled": False}}, "networkPolicy.postgres is empty"),
    "a Redis behind a wall": ({"redis": {"enabled": False}}, "networkPolicy.redis is empty"),
    "a peer of no kind": ({"networkPolicy": {"ingress": [{"cidr": "10.0.0.0/8"}]}}, "'cidr' not allowed"),
}  # fmt: skip


@pytest.mark.parametrize("wrong", REFUSED)
def test_wrong_values_are_refused_by_name(helm: Helm, wrong: str) -> None:
    values, sentence = REFUSED[wrong]
    done = helm.run("template", "grader", str(CHART), values={"secret": "grader"} | values)
    assert done.returncode != 0
    assert sentence in done.stderr


def test_every_setting_can_be_given() -> None:
    """When it fails: add the setting to values.schema.json, or to NOT_OFFERED."""
    schema = json.loads((CHART / "values.schema.json").read_text())
    listed, provider = schema["properties"]["settings"]["propertyNames"]["anyOf"]
    assert listed["enum"] == [
        f"GRADER_{name.upper()}" for name in Settings.model_fields if name not in NOT_OFFERED
    ]
    offered = [name for name in OidcProvider.model_fields if not name.startswith("client_secret")]
    assert [
        name for name in offered if not re.match(provider["pattern"], f"GRADER_OIDC__UNI__{name.upper()}")
    ] == []


def test_the_chart_is_of_this_release() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert yaml.safe_load((CHART / "Chart.yaml").read_text())["appVersion"] == version


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ("least", "This cluster runs no workers."),
        ("all", "Then: https://kernels.uni.edu"),
        ("workers alone", "they are root there"),
    ],
)
def test_the_notes_say_what_comes_next(helm: Helm, values: str, sentence: str) -> None:
    words = ("install", "grader", str(CHART), "--namespace", "judging", "--dry-run=client")
    done = helm.run(*words, values=SETS[values])
    assert done.returncode == 0, done.stderr
    assert sentence in done.stdout.partition("\nNOTES:\n")[2]
