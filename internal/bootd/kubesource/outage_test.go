package kubesource

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// said counts lines of a log by their levels.
type said struct{ Warn, Info, Debug int }

func levels(b string) said {
	return said{strings.Count(b, "level=WARN"), strings.Count(b, "level=INFO"), strings.Count(b, "level=DEBUG")}
}

// TestOutageIsSaid: whoever reads the log sees that the API is away, and what that means, and not a line a second.
func TestOutageIsSaid(t *testing.T) {
	gone := errors.New("connection refused")
	type beat struct {
		after time.Duration
		err   error
	}
	cases := map[string]struct {
		reason string
		beats  []beat
		want   said
	}{
		"None":   {"nothing is said while all is well", []beat{{}, {after: time.Second}}, said{}},
		"Begins": {"it's said at once", []beat{{}, {err: gone}}, said{Warn: 1}},
		"Lasts":  {"not each second", []beat{{err: gone}, {after: time.Second, err: gone}, {after: time.Second, err: gone}}, said{Warn: 1, Debug: 2}},
		"Long":   {"but every ten minutes", []beat{{err: gone}, {after: saidAgain, err: gone}}, said{Warn: 2}},
		"Ends":   {"and when it's over", []beat{{err: gone}, {after: time.Second}, {after: time.Second}}, said{Warn: 1, Info: 1}},
		"Again":  {"another one is another", []beat{{err: gone}, {after: time.Second}, {after: time.Second, err: gone}}, said{Warn: 2, Info: 1}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			now := time.Unix(1, 0)
			o := outage{log: slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug})), now: func() time.Time { return now }}
			for _, x := range tc.beats {
				now = now.Add(x.after)
				o.after(x.err)
			}
			if diff := cmp.Diff(tc.want, levels(b.String())); diff != "" {
				t.Errorf("%s (-want +got):\n%s\n%s", tc.reason, diff, b.String())
			}
		})
	}
}

// TestTroubleIsSaid: a reflector tries again and again, and says so each time.
func TestTroubleIsSaid(t *testing.T) {
	cases := map[string]struct {
		reason string
		errs   []error
		want   said
	}{
		"Once":    {"it's said once", []error{errors.New("unauthorized"), errors.New("unauthorized")}, said{Warn: 1, Debug: 1}},
		"Ended":   {"a watch ends now and then", []error{io.EOF, io.ErrUnexpectedEOF}, said{}},
		"Expired": {"or can't go on from where it was", []error{apierrors.NewResourceExpired("too old")}, said{}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			var b strings.Builder
			x := trouble{kind: "BootEntry", log: slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug})), now: func() time.Time { return time.Unix(1, 0) }}
			for _, err := range tc.errs {
				x.after(context.Background(), err)
			}
			if diff := cmp.Diff(tc.want, levels(b.String())); diff != "" {
				t.Errorf("%s (-want +got):\n%s\n%s", tc.reason, diff, b.String())
			}
		})
	}
}

// hung is an API that takes what it's asked, and never answers.
type hung struct{ API }

func (hung) IsWatchListSemanticsUnSupported() bool { return true }

func (hung) List(ctx context.Context, _ string, _ runtime.Object, _ metav1.ListOptions) error {
	<-ctx.Done()
	return ctx.Err()
}

// TestSilenceIsSaid: a bootd that has started beside an API that never answers says so, since nothing else fails.
func TestSilenceIsSaid(t *testing.T) {
	for reason, tc := range map[string]struct {
		after time.Duration
		want  said
	}{
		"an API may take its time":    {unanswered - time.Second, said{}},
		"then it's said":              {unanswered + time.Second, said{Warn: 1}},
		"and every ten minutes again": {unanswered + saidAgain + time.Second, said{Warn: 2}},
	} {
		synctest.Test(t, func(t *testing.T) {
			var b strings.Builder
			s := newSource(t, &log{}, &clock{now: time.Now()})
			s.o.Kube, s.o.Logger = hung{s.o.Kube}, slog.New(slog.NewTextHandler(&b, &slog.HandlerOptions{Level: slog.LevelDebug}))
			ctx, stop := context.WithTimeout(t.Context(), tc.after)
			defer stop()
			if err := s.Run(ctx); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, levels(b.String())); diff != "" {
				t.Errorf("%s (-want +got):\n%s\n%s", reason, diff, b.String())
			}
			if got := b.String(); tc.want.Warn > 0 && !strings.Contains(got, `kinds="BootEntry, BootNetwork, BootSession, BootServer"`) {
				t.Errorf("it doesn't say what's missing: %s", got)
			}
		})
	}
}

// TestLostEntriesAreSaid: an API that has lost them all is told of, also by a bootd that was restarted since, and one that never had any isn't.
func TestLostEntriesAreSaid(t *testing.T) {
	for served, want := range map[int]bool{0: false, 1003: true} {
		var b bytes.Buffer
		s := newSource(t, &log{}, &clock{now: t0()})
		o := s.o
		o.Served, o.Logger = served, slog.New(slog.NewTextHandler(&b, nil))
		s = New(o, &log{}, nil)
		s.publish(listed(t, s, "1", nil, nil))
		if got := strings.Contains(b.String(), "no BootEntry is left"); got != want {
			t.Errorf("%d were served: said %t, want %t", served, got, want)
		}
	}
}
