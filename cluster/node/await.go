package node

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var errNotYet = errors.New("not yet")

// await asks until there is no error, and then says which one there was last.
func await(ctx context.Context, what string, ask func(context.Context) error) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := ask(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w (%w)", what, err, ctx.Err())
		case <-tick.C:
		}
	}
}

// awaitNode waits until the node is Ready.
func (c *Cluster) awaitNode(ctx context.Context) error {
	return await(ctx, "the node doesn't get Ready", func(ctx context.Context) error {
		n := &corev1.Node{}
		if err := c.kube.Get(ctx, client.ObjectKey{Name: Name}, n); err != nil {
			return err
		}
		for _, cond := range n.Status.Conditions {
			if cond.Type != corev1.NodeReady {
				continue
			}
			if cond.Status == corev1.ConditionTrue {
				return nil
			}
			return fmt.Errorf("%w: %s", errNotYet, cond.Message)
		}
		return errNotYet
	})
}

// AwaitAvailable waits until Deployments of a namespace are Available; without names, until all are and there is one. Its
// error says what the pods lack.
func (c *Cluster) AwaitAvailable(ctx context.Context, namespace string, names ...string) error {
	err := await(ctx, "not all Deployments of "+namespace+" are Available", func(ctx context.Context) error {
		all := &appsv1.DeploymentList{}
		if err := c.kube.List(ctx, all, client.InNamespace(namespace)); err != nil {
			return err
		}
		return unavailable(all.Items, names)
	})
	if err == nil {
		return nil
	}
	return fmt.Errorf("%w\n%s", err, c.describe(context.WithoutCancel(ctx), namespace))
}

// unavailable says which Deployments aren't Available.
func unavailable(all []appsv1.Deployment, names []string) error {
	var missing []string
	if len(names) == 0 && len(all) == 0 {
		return fmt.Errorf("%w: there is none", errNotYet)
	}
	for _, n := range names {
		if !slices.ContainsFunc(all, func(d appsv1.Deployment) bool { return d.Name == n }) {
			missing = append(missing, n)
		}
	}
	for _, d := range all {
		if (len(names) == 0 || slices.Contains(names, d.Name)) && !available(d) {
			missing = append(missing, d.Name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("%w: %s", errNotYet, strings.Join(missing, ", "))
	}
	return nil
}

// available says whether all that is wanted now is there: the condition may be of the generation before.
func available(d appsv1.Deployment) bool {
	if d.Status.ObservedGeneration < d.Generation || d.Status.UpdatedReplicas < d.Status.Replicas {
		return false
	}
	return slices.ContainsFunc(d.Status.Conditions, func(c appsv1.DeploymentCondition) bool {
		return c.Type == appsv1.DeploymentAvailable && c.Status == corev1.ConditionTrue
	})
}

// describe says what the pods of a namespace wait for, and its warnings.
func (c *Cluster) describe(ctx context.Context, namespace string) string {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	var out []string
	pods := &corev1.PodList{}
	events := &corev1.EventList{}
	if err := errors.Join(
		c.kube.List(ctx, pods, client.InNamespace(namespace)), c.kube.List(ctx, events, client.InNamespace(namespace)),
	); err != nil {
		return "  (" + err.Error() + ")"
	}
	for _, p := range pods.Items {
		out = append(out, "  pod "+p.Name+": "+string(p.Status.Phase)+waiting(p))
	}
	for _, e := range events.Items {
		if e.Type == corev1.EventTypeWarning {
			out = append(out, "  "+e.InvolvedObject.Kind+" "+e.InvolvedObject.Name+": "+e.Reason+": "+e.Message)
		}
	}
	return strings.Join(out[:min(len(out), 20)], "\n")
}

func waiting(p corev1.Pod) string {
	var out strings.Builder
	for _, s := range slices.Concat(p.Status.InitContainerStatuses, p.Status.ContainerStatuses) {
		switch {
		case s.State.Waiting != nil:
			out.WriteString(", " + s.Name + " waits: " + s.State.Waiting.Reason + " " + s.State.Waiting.Message)
		case s.State.Terminated != nil && s.State.Terminated.ExitCode != 0:
			out.WriteString(", " + s.Name + " ended: " + s.State.Terminated.Reason)
		case s.State.Running != nil && !s.Ready:
			out.WriteString(", " + s.Name + " isn't ready")
		}
	}
	return out.String()
}
