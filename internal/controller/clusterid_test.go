package controller

import (
	"bytes"
	"context"
	"errors"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

func stateMap(data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "crossplane-system", Name: "provider-baremetal"}, Data: data}
}

func TestClusterID(t *testing.T) {
	errBoom := errors.New("boom")
	fresh := []byte{0, 1, 2, 3, 4, 5, 6, 255}
	cases := map[string]struct {
		reason string
		before []client.Object
		funcs  interceptor.Funcs
		random []byte
		want   string
		err    string
	}{
		"New": {
			reason: "The first provider of a cluster makes an id.",
			random: fresh,
			want:   "00010203040506ff",
		},
		"Known": {
			reason: "An id is for ever.",
			before: []client.Object{stateMap(map[string]string{"clusterID": "feedfacefeedface"})},
			random: fresh,
			want:   "feedfacefeedface",
		},
		"Race": {
			reason: "Of two providers that start at once, the second takes the id of the first.",
			funcs: interceptor.Funcs{
				Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
					if err := c.Create(ctx, stateMap(map[string]string{"clusterID": "feedfacefeedface"})); err != nil {
						return err
					}
					return c.Create(ctx, o, opts...)
				},
			},
			random: fresh,
			want:   "feedfacefeedface",
		},
		"Emptied": {
			reason: "An id that was taken away isn't replaced in silence: addresses would seem to be another cluster's.",
			before: []client.Object{stateMap(nil)},
			random: fresh,
			err:    `ConfigMap "provider-baremetal" in namespace "crossplane-system" has no "clusterID": restore it, or delete the ConfigMap for a new one`,
		},
		"Restored": {
			reason: "A file that somebody kept it in may end with a line's end: that isn't another cluster.",
			before: []client.Object{stateMap(map[string]string{"clusterID": "feedfacefeedface\n"})},
			random: fresh,
			want:   "feedfacefeedface",
		},
		"Chosen": {
			reason: "One that somebody gave must be one part of a marker, and of a release note.",
			before: []client.Object{stateMap(map[string]string{"clusterID": "prod/eu 1"})},
			random: fresh,
			err:    `"clusterID" of ConfigMap "provider-baremetal" in namespace "crossplane-system" can't be a part of our markers in NetBox: it may have letters, digits, hyphens, dots and underscores, 63 at most`,
		},
		"NoAnswer": {
			reason: "Not to know whether there's an id isn't to have none.",
			funcs: interceptor.Funcs{
				Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
					return errBoom
				},
			},
			random: fresh,
			err:    `cannot get ConfigMap "provider-baremetal" in namespace "crossplane-system": boom`,
		},
		"NotAllowed": {
			reason: "Without a record there's no id: the next start would make another.",
			funcs: interceptor.Funcs{
				Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return errBoom },
			},
			random: fresh,
			err:    `cannot create ConfigMap "provider-baremetal" in namespace "crossplane-system": boom`,
		},
		"NoRandomness": {
			reason: "Half an id is none.",
			random: fresh[:3],
			err:    "cannot make a cluster id: unexpected EOF",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			kube := fake.NewClientBuilder().WithObjects(tc.before...).WithInterceptorFuncs(tc.funcs).Build()
			got, err := ClusterID(t.Context(), kube, "crossplane-system", bytes.NewReader(tc.random))
			text := ""
			if err != nil {
				text = err.Error()
			}
			if got != tc.want || text != tc.err {
				t.Errorf("%s\nClusterID(...) = %q, %q: want %q, %q", tc.reason, got, text, tc.want, tc.err)
			}
		})
	}
}
