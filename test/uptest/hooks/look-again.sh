#!/bin/sh
# Holds that a provider which knows nothing but what is written down finds the same things, and changes none of them:
#   look-again.sh NAMESPACE WHAT...     WHAT is RESOURCE/NAME, or LABEL=VALUE: all managed resources that have the label
# It's in the place of uptest's import step, which leaves out whatever has a namespace, as all of ours has, and loads scripts from the
# internet. That step also takes status.conditions away: here the admission policy baremetal-status refuses this to anybody but the provider.
# So resources are paused, which turns Synced to False, the provider is started anew, and then they aren't paused any more.
# Those who call it at the same time start the provider one after another, each once: LOCK is a file that they share. A machine that is being released
# meanwhile, by another case, isn't looked at by a dozen providers of a few seconds each: one that finds an act begun waits for its effect, for longer than that.
set -eu
namespace=$1
shift
resources=
for what in "$@"; do
	case $what in
	*=*) found=$("$KUBECTL" -n "$namespace" get managed -l "$what" -o name) ;;
	*) found=$what ;;
	esac
	[ -n "$found" ] || { echo "look-again: there is no managed resource with $what in $namespace" >&2; exit 1; }
	resources="$resources $found"
done

all() { # shellcheck disable=SC2086 # One word a resource.
	verb=$1
	shift
	for r in $resources; do "$KUBECTL" -n "$namespace" "$verb" "$r" "$@"; done
}
facts() {
	all get -o jsonpath='{.kind} {.metadata.name}: external name {.metadata.annotations.crossplane\.io/external-name}, id {.status.atProvider.id}, address {.status.atProvider.address}, machine {.status.atProvider.identity}, power {.status.atProvider.power}, plan {.status.atProvider.plan.digest}, installed {.status.atProvider.installedGeneration}{"\n"}' |
		sed 's/power Powering/power Powered/' # Ready, and on its way meanwhile.
}
settled() {
	tries=60
	while [ "$tries" -gt 0 ] && [ -n "$("$KUBECTL" get redfishhosts -A -o jsonpath='{.items[*].metadata.deletionTimestamp}')" ]; do
		tries=$((tries - 1))
		sleep 1
	done
}
await() {
	for r in $resources; do "$KUBECTL" -n "$namespace" wait "$r" --timeout=120s --for="$1" >/dev/null; done
}

await condition=Ready
before=$(facts)
all annotate crossplane.io/paused=true --overwrite >/dev/null
await 'jsonpath={.status.conditions[?(@.type=="Synced")].reason}=ReconcilePaused'
(
	flock 9
	settled
	"$KUBECTL" -n "$CROSSPLANE_NAMESPACE" delete pod -l "$PROVIDER" --wait >/dev/null
	"$KUBECTL" -n "$CROSSPLANE_NAMESPACE" wait pod -l "$PROVIDER" --for=condition=Ready --timeout=120s >/dev/null
) 9>"$LOCK"
all annotate crossplane.io/paused- >/dev/null
await 'jsonpath={.status.conditions[?(@.type=="Synced")].reason}=ReconcileSuccess'
await condition=Ready
after=$(facts)
if [ "$before" != "$after" ]; then
	printf 'look-again: a provider that was started anew found something else.\nBefore:\n%s\nAfter:\n%s\n' "$before" "$after" >&2
	exit 1
fi
printf 'look-again: found again, unchanged:\n%s\n' "$after"
