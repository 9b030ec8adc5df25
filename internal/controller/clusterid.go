package controller

import (
	"context"
	"encoding/hex"
	"fmt"
	"io"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	kerrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// stateName names the ConfigMap, in the provider's namespace, of what the provider keeps about itself.
	stateName = "provider-baremetal"
	// clusterIDKey is its key for the cluster's id.
	clusterIDKey = "clusterID"
	// clusterIDBytes of randomness; the id is twice as many hexadecimal digits.
	clusterIDBytes = 8
)

// ClusterID returns the random id of this cluster, which marks what we make in NetBox as this cluster's. It's made once and kept
// in a ConfigMap: back that up with the resources, or a restored cluster takes its own addresses for another's.
func ClusterID(ctx context.Context, kube client.Client, namespace string, random io.Reader) (string, error) {
	state := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: stateName}}
	err := kube.Get(ctx, client.ObjectKeyFromObject(state), state)
	if kerrors.IsNotFound(err) {
		id, err := newClusterID(random)
		if err != nil {
			return "", err
		}
		state.Data = map[string]string{clusterIDKey: id}
		if err := kube.Create(ctx, state); err == nil {
			return id, nil
		} else if !kerrors.IsAlreadyExists(err) {
			return "", fmt.Errorf("cannot create ConfigMap %q in namespace %q: %w", stateName, namespace, err)
		}
		err = kube.Get(ctx, client.ObjectKeyFromObject(state), state)
		return recordedID(state, namespace, err)
	}
	return recordedID(state, namespace, err)
}

// recordedID is the id that another process, or we before, has recorded, or a person has. An empty one is nobody's choice: ids don't change by
// themselves, so a person must say what it was. One with a slash or a space would have our own markers and notes read as nobody's.
func recordedID(state *corev1.ConfigMap, namespace string, err error) (string, error) {
	if err != nil {
		return "", fmt.Errorf("cannot get ConfigMap %q in namespace %q: %w", stateName, namespace, err)
	}
	id := strings.TrimSpace(state.Data[clusterIDKey]) // Of a file that it was kept in.
	if id == "" {
		return "", fmt.Errorf("ConfigMap %q in namespace %q has no %q: restore it, or delete the ConfigMap for a new one", stateName, namespace, clusterIDKey)
	}
	if !regexp.MustCompile(`^[-0-9A-Za-z._]{1,63}$`).MatchString(id) {
		return "", fmt.Errorf("%q of ConfigMap %q in namespace %q can't be a part of our markers in NetBox: it may have letters, digits, hyphens, dots and underscores, 63 at most", clusterIDKey, stateName, namespace)
	}
	return id, nil
}

func newClusterID(random io.Reader) (string, error) {
	b := make([]byte, clusterIDBytes)
	if _, err := io.ReadFull(random, b); err != nil {
		return "", fmt.Errorf("cannot make a cluster id: %w", err)
	}
	return hex.EncodeToString(b), nil
}
