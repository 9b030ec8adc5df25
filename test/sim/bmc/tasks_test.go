package bmc_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/test/sim/bmc"
)

func TestTasks(t *testing.T) {
	const tasks, monitors, jobs = "/redfish/v1/TaskService/Tasks/1", "/redfish/v1/TaskService/TaskMonitors/1", "/redfish/v1/JobService/Jobs/1"
	type want struct {
		Location      string
		During, After int // status of what the answer named, or else of the Task
		State         any // of the Task after the end
		Again         int // the monitor once more
	}
	cases := map[string]struct {
		reason string
		async  bmc.Async
		lose   bool
		kind   string
		on     bool // in the end
		want   want
	}{
		"Task":      {reason: "It stays.", async: bmc.AsyncTask, kind: "ForceOff", want: want{tasks, 200, 200, "Completed", 204}},
		"Exception": {reason: "What was accepted and can't be done.", async: bmc.AsyncTask, kind: "On", on: true, want: want{tasks, 200, 200, "Exception", 204}},
		"Monitor":   {reason: "It's gone when it has told.", async: bmc.AsyncMonitor, kind: "ForceOff", want: want{monitors, 202, 204, nil, 404}},
		"Only":      {reason: "Without a word about its Task.", async: bmc.AsyncMonitorOnly, kind: "ForceOff", want: want{monitors, 202, 204, nil, 404}},
		"Job":       {reason: "A job of the BMC's own.", async: bmc.AsyncJob, kind: "ForceOff", want: want{jobs, 200, 200, "Completed", 204}},
		"Bare":      {reason: "Nothing to ask for.", async: bmc.AsyncBare, kind: "ForceOff", want: want{"", 200, 200, "Completed", 204}},
		"Lost":      {reason: "Forgotten, and done.", async: bmc.AsyncTask, lose: true, kind: "ForceOff", want: want{tasks, 404, 404, nil, 404}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			now := time.Unix(1_800_000_000, 0)
			m := &bmc.Idle{}
			_ = m.On(bmc.BootNormal)
			b := bmc.New(bmc.Config{
				Tree: made(t, nil), Now: func() time.Time { return now }, Systems: []bmc.SystemConfig{{Machine: m}},
				Behaviour: &bmc.Behaviour{Async: tc.async, TaskTakes: time.Second, Redundant: 409},
			})
			r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, uriReset, strings.NewReader(`{"ResetType":"`+tc.kind+`"}`))
			r.SetBasicAuth(bmc.DefaultUsername, bmc.DefaultPassword)
			w := httptest.NewRecorder()
			b.ServeHTTP(w, r)
			if w.Code != http.StatusAccepted || !m.Powered() {
				t.Fatalf("\n%s\nPOST: got %d, powered %v; want 202 and nothing done yet", tc.reason, w.Code, m.Powered())
			}
			got := want{Location: w.Header().Get("Location")}
			if tc.lose {
				b.LoseTasks()
			}
			asked := tasks
			if got.Location != "" {
				asked = got.Location
			}
			got.During = get(t, b, asked, nil).Code
			now = now.Add(time.Second)
			got.After = get(t, b, asked, nil).Code
			_, end := ask(t, b, http.MethodGet, tasks, nil, nil)
			got.State = end["TaskState"]
			got.Again = get(t, b, monitors, nil).Code
			if diff := cmp.Diff(tc.want, got); diff != "" || m.Powered() != tc.on {
				t.Errorf("\n%s\npowered %v; -want, +got:\n%s", tc.reason, m.Powered(), diff)
			}
		})
	}
}
