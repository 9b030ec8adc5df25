package redfish

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReceiptOf(t *testing.T) {
	const task, monitor = "/redfish/v1/TaskService/Tasks/7", "/redfish/v1/TaskService/TaskMonitors/7"
	const body = `{"@odata.type":"#Task.v1_7_0.Task","@odata.id":"` + task + `","TaskMonitor":"` + monitor + `","TaskState":"New"}`
	cases := map[string]struct {
		reason   string
		status   int
		location string
		body     string
		want     Receipt
		follow   string
	}{
		"Done":        {reason: "Nothing was promised.", status: 204, want: Receipt{Status: 204}},
		"Bare":        {reason: "Something was, and nobody tells more.", status: 202, want: Receipt{Status: 202}},
		"Task":        {reason: "A Task's place.", status: 202, location: task, want: Receipt{Status: 202, Task: task}, follow: task},
		"Whole":       {reason: "Some BMCs name themselves.", status: 202, location: "https://10.0.0.1" + task + "?x=1", want: Receipt{Status: 202, Task: task + "?x=1"}, follow: task + "?x=1"},
		"Monitor":     {reason: "What is neither is a monitor.", status: 202, location: "/taskmon/1", want: Receipt{Status: 202, Monitor: "/taskmon/1"}, follow: "/taskmon/1"},
		"Both":        {reason: "XCC: the Task, since its monitor can be read once.", status: 202, location: monitor, body: body, want: Receipt{Status: 202, Task: task, Monitor: monitor}, follow: task},
		"BodyOnly":    {reason: "Without a Location.", status: 202, body: body, want: Receipt{Status: 202, Task: task, Monitor: monitor}, follow: task},
		"Job":         {reason: "iDRAC.", status: 202, location: "/redfish/v1/Managers/iDRAC.Embedded.1/Oem/Dell/Jobs/JID_1", want: Receipt{Status: 202, Job: "/redfish/v1/Managers/iDRAC.Embedded.1/Oem/Dell/Jobs/JID_1"}, follow: "/redfish/v1/Managers/iDRAC.Embedded.1/Oem/Dell/Jobs/JID_1"},
		"JobOf200":    {reason: "A job may be made by a write that is done.", status: 200, location: "/redfish/v1/Managers/1/Jobs/JID_1", want: Receipt{Status: 200, Job: "/redfish/v1/Managers/1/Jobs/JID_1"}, follow: "/redfish/v1/Managers/1/Jobs/JID_1"},
		"Created":     {reason: "What was created is no promise.", status: 201, location: "/redfish/v1/EventService/Subscriptions/1", want: Receipt{Status: 201}},
		"OtherBody":   {reason: "An answer that isn't a Task.", status: 200, body: `{"@odata.type":"#Message.v1_1_0.Message","@odata.id":"/x"}`, want: Receipt{Status: 200}},
		"NotAPath":    {reason: "A link that can't be used is none.", status: 202, location: "7", want: Receipt{Status: 202}},
		"Long":        {reason: "Nor is one that is too long to keep.", status: 202, location: "/" + strings.Repeat("x", maxURI), want: Receipt{Status: 202}},
		"NotALink":    {reason: "Nor one that isn't one.", status: 202, location: "http://[::1", want: Receipt{Status: 202}},
		"LowerCase":   {reason: "HPE spells paths in lower case.", status: 202, location: "/redfish/v1/taskservice/tasks/7/", want: Receipt{Status: 202, Task: "/redfish/v1/taskservice/tasks/7/"}, follow: "/redfish/v1/taskservice/tasks/7/"},
		"NotJSONTask": {reason: "A page.", status: 202, location: task, body: "<html>", want: Receipt{Status: 202, Task: task}, follow: task},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got := receiptOf(answer{status: tc.status, body: []byte(tc.body), header: http.Header{"Location": {tc.location}}})
			if diff := cmp.Diff(tc.want, got); diff != "" || got.Follow() != tc.follow {
				t.Errorf("\n%s\nfollowed at %q, want %q; receipt: -want, +got:\n%s", tc.reason, got.Follow(), tc.follow, diff)
			}
			if tc.follow != "" && ReceiptAt(tc.follow).Follow() != tc.follow {
				t.Errorf("\n%s\nfollowed by a journal at %q", tc.reason, ReceiptAt(tc.follow).Follow())
			}
		})
	}
}

func TestTask(t *testing.T) {
	const task, job, monitor = "/redfish/v1/TaskService/Tasks/1", "/redfish/v1/Jobs/1", "/mon/1"
	failed := `{"TaskState":"Exception","Messages":[{"MessageId":"Base.1.0.Success"},{"MessageId":"a stranger's words"},{"MessageId":"Base.1.0.InternalError"},null]}`
	cases := map[string]struct {
		reason string
		at     string
		status int
		body   string
		want   Progress
		kind   Kind
	}{
		"Running":      {reason: "On its way.", at: task, body: `{"TaskState":"Running"}`, want: Progress{State: TaskRunning}},
		"Suspended":    {reason: "It goes on.", at: task, body: `{"TaskState":"Suspended"}`, want: Progress{State: TaskRunning}},
		"OwnWord":      {reason: "A word that nobody knows isn't an end.", at: task, body: `{"TaskState":"Pondering"}`, want: Progress{State: TaskRunning}},
		"Completed":    {reason: "Done, as the BMC says.", at: task, body: `{"TaskState":"Completed"}`, want: Progress{State: TaskDone}},
		"Exception":    {reason: "It failed, and the newest message says why.", at: task, body: failed, want: Progress{State: TaskFailed, MessageID: "Base.1.0.InternalError"}},
		"OneMessage":   {reason: "One where a list belongs.", at: task, body: `{"TaskState":"Killed","Messages":{"MessageId":"Base.1.0.Aborted"}}`, want: Progress{State: TaskFailed, MessageID: "Base.1.0.Aborted"}},
		"Job":          {reason: "A job has words of its own.", at: job, body: `{"JobState":"CompletedWithErrors"}`, want: Progress{State: TaskFailed}},
		"JobScheduled": {reason: "It waits for its time.", at: job, body: `{"JobState":"Scheduled"}`, want: Progress{State: TaskRunning, Scheduled: true}},
		"Pending":      {reason: "The same.", at: task, body: `{"TaskState":"Pending"}`, want: Progress{State: TaskRunning, Scheduled: true}},
		"Untold":       {reason: "A Task that doesn't tell its state.", at: task, body: `{}`},
		"Gone":         {reason: "Forgotten.", at: task, status: 404, want: Progress{State: TaskGone}},
		"Denied":       {reason: "One that isn't shown to us is as good as gone.", at: task, status: 403, want: Progress{State: TaskGone}},
		"Busy":         {reason: "Nothing was learnt.", at: task, status: 503, kind: Unreachable},
		"Internal":     {reason: "The same.", at: task, status: 500, kind: Refused},
		"NotLetIn":     {reason: "The account comes first.", at: task, status: 401, kind: Unauthorized},
		"MonitorRuns":  {reason: "202 until the end.", at: monitor, status: 202, want: Progress{State: TaskRunning}},
		"MonitorDone":  {reason: "Then what the write came to.", at: monitor, status: 204, want: Progress{State: TaskDone}},
		"MonitorFails": {reason: "Be it a refusal.", at: monitor, status: 400, body: `{"error":{"code":"Base.1.0.GeneralError"}}`, want: Progress{State: TaskFailed, MessageID: "Base.1.0.GeneralError"}},
		"MonitorGone":  {reason: "It was read by somebody.", at: monitor, status: 404, want: Progress{State: TaskGone}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			status := tc.status
			if status == 0 {
				status = http.StatusOK
			}
			c := connectTo(t, aBMC{"GET /redfish/v1/": {body: "{}"}, "GET " + tc.at: {status: status, body: tc.body}})
			got, err := c.Task(t.Context(), ReceiptAt(tc.at))
			if diff := cmp.Diff(tc.want, got); diff != "" || KindOf(err) != tc.kind {
				t.Errorf("\n%s\nTask(...): error %v, want kind %q; -want, +got:\n%s", tc.reason, err, tc.kind, diff)
			}
		})
	}
	c := connectTo(t, aBMC{"GET /redfish/v1/": {body: "{}"}})
	if got, err := c.Task(t.Context(), Receipt{Status: 202}); got.State != TaskGone || !got.Over() || err != nil {
		t.Errorf("Task(...) without a place to ask: %v, %v", got, err)
	}
}

func TestMessageOf(t *testing.T) {
	const soon = "iLO.2.23.InvalidOperationForSystemState"
	cases := map[string]struct {
		err  error
		want string
		soon bool
	}{
		"Soon":    {&Error{Kind: Refused, Status: 400, MessageID: "Base.1.0.GeneralError", messages: []string{"Base.1.0.GeneralError", soon}}, soon, true},
		"Other":   {&Error{Kind: Refused, Status: 400, MessageID: "Base.1.0.GeneralError"}, "Base.1.0.GeneralError", false},
		"Silent":  {&Error{Kind: Forbidden, Status: 403}, "status 403", false},
		"NoWords": {errors.New("EOF"), "", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := MessageOf(tc.err); got != tc.want || TooSoon(got) != tc.soon {
				t.Errorf("MessageOf(...): got %q, too soon %v; want %q, %v", got, TooSoon(got), tc.want, tc.soon)
			}
		})
	}
}

// TestReset tells what comes of a power action by what the BMC answers.
func TestReset(t *testing.T) {
	const at = "/redfish/v1/Systems/1"
	system := func(power string) string {
		return `{"Id":"1","SerialNumber":"S","PowerState":"` + power + `","Actions":{"#ComputerSystem.Reset":{"target":"/reset","ResetType@Redfish.AllowableValues":["On","ForceOff","Nmi","x\u0007y"]}}}`
	}
	cases := map[string]struct {
		reason string
		act    Act
		status int
		body   string
		kind   Kind
		offers []string
		unsent bool
	}{
		"NoOperation": {reason: "Already there, while PowerState lags.", act: ActForceOff, status: 409, body: `{"error":{"code":"Base.1.0.NoOperation"}}`},
		"Dell":        {reason: "The same in iDRAC's words.", act: ActForceOff, status: 409, body: `{"error":{"@Message.ExtendedInfo":[{"MessageId":"IDRAC.2.7.PSU501"}]}}`},
		"Conflict":    {reason: "A conflict with something else.", act: ActForceOff, status: 409, kind: Refused},
		"Internal":    {reason: "It may have been done.", act: ActForceOff, status: 500, kind: Refused},
		"NotOffered":  {reason: "What it can do is told.", act: ActGracefulOff, kind: Unsupported, offers: []string{"On", "ForceOff", "Nmi", "xy"}},
		"NotLetIn":    {reason: "The password still reads the System: it is the act that is refused.", act: ActForceOff, status: 401, kind: Forbidden},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := connectTo(t, aBMC{
				"GET /redfish/v1/": {body: "{}"}, "GET " + at: {body: system("On")}, "POST /reset": {status: tc.status, body: tc.body},
			})
			s, err := c.SystemAt(t.Context(), at)
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Reset(t.Context(), s, tc.act)
			var offers []string
			if e := new(Error); asError(err, &e) {
				offers = e.Offers
			}
			if diff := cmp.Diff(tc.offers, offers); diff != "" || KindOf(err) != tc.kind || IsUnsent(err) != tc.unsent {
				t.Errorf("\n%s\nReset(...): got %v, unsent %v, want kind %q; offers: -want, +got:\n%s", tc.reason, err, IsUnsent(err), tc.kind, diff)
			}
		})
	}
}

func FuzzReceipt(f *testing.F) {
	f.Add(202, "/redfish/v1/TaskService/Tasks/1", `{"@odata.type":"#Task.v1_7_0.Task","@odata.id":"/x","TaskState":"Completed"}`)
	f.Add(202, "//evil.example/x", `{"Messages":{}}`)
	f.Add(201, "@evil.example/x", `[`)
	f.Fuzz(func(t *testing.T, status int, location, body string) {
		a := answer{status: status, body: []byte(body), header: http.Header{"Location": {location}}}
		r := receiptOf(a)
		for _, uri := range []string{r.Task, r.Job, r.Monitor} {
			if uri != "" && (checkPath(uri) != nil || len(uri) > maxURI) {
				t.Errorf("%q can't be asked for", uri)
			}
		}
		if p := progressOf(a, true); p.MessageID != "" && !messageID.MatchString(p.MessageID) {
			t.Errorf("message %q", p.MessageID)
		}
	})
}

// TestUnsent: a write to a BMC that takes no connection didn't leave.
func TestUnsent(t *testing.T) {
	srv := httptest.NewTLSServer(aBMC{"GET /redfish/v1/": {body: "{}"}})
	c, err := Connect(t.Context(), Config{
		Address: srv.URL, Username: "u", Password: "p", Auth: AuthBasic, TLS: TLS{Verify: VerifyNone}, Guard: loopback(), RequestTimeout: 10 * time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	srv.Close()
	c.http.CloseIdleConnections()
	s := System{CanReset: true, Power: PowerOn, path: "/s", resetTarget: "/reset"}
	if _, err := c.Reset(t.Context(), s, ActForceOff); !IsUnsent(err) || !IsUnreachable(err) {
		t.Errorf("Reset(...): got %v, unsent %v; want one that didn't leave", err, IsUnsent(err))
	}
}
