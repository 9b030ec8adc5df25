package redfish

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// TaskState is how far something is that a BMC promised.
type TaskState string

// The states. "" is one that nobody could be asked for, or didn't tell.
const (
	// TaskRunning: it isn't over.
	TaskRunning TaskState = "Running"
	// TaskDone: the BMC says that it's done. Whether it is has to be looked for.
	TaskDone TaskState = "Done"
	// TaskFailed: the BMC says that it isn't.
	TaskFailed TaskState = "Failed"
	// TaskGone: nobody knows of it any more. Tasks end with a BMC's restart, and
	// monitors once they have told the end.
	TaskGone TaskState = "Gone"
)

// Progress is what a BMC tells of a write that it promised.
type Progress struct {
	State TaskState
	// Scheduled says that it waits for its time, such as the machine's next reset.
	Scheduled bool
	// MessageID says why it failed, "" where the BMC doesn't.
	MessageID string
}

// Over says whether there is nothing more to ask for.
func (p Progress) Over() bool { return p.State != "" && p.State != TaskRunning }

// ended are the words for an end (Task 1.7, Job 1.2, and those of Dell's jobs).
// All others are on the way: a deadline ends the waiting for words that nobody knows.
var ended = map[string]TaskState{ //nolint:gochecknoglobals // A table.
	"completed": TaskDone, "rebootcompleted": TaskDone,
	"exception": TaskFailed, "killed": TaskFailed, "cancelled": TaskFailed, "failed": TaskFailed, "completedwitherrors": TaskFailed, "rebootfailed": TaskFailed,
}

// scheduled are the words for what was accepted and waits: those of the standard's
// tasks, and of Dell's jobs for the next reboot.
var scheduled = []string{"pending", "scheduled", "rebootpending", "readyforexecution", "waiting"} //nolint:gochecknoglobals // A table.

// Task asks how a write is coming along that the BMC promised, in one request.
// Its error says that nothing could be learnt now.
func (c *Client) Task(ctx context.Context, r Receipt) (Progress, error) {
	uri := r.Follow()
	if uri == "" {
		return Progress{State: TaskGone}, nil
	}
	a, err := c.get(ctx, uri, nil)
	status := statusOf(err)
	switch {
	case err == nil:
		return progressOf(a, uri == r.Monitor), nil
	case status == http.StatusUnauthorized, status < http.StatusBadRequest, status >= http.StatusInternalServerError, status == http.StatusTooManyRequests:
		return Progress{}, err
	case uri == r.Monitor && KindOf(err) == Refused:
		// A monitor's last answer is that of the write itself (DSP0266, 12.2).
		return Progress{State: TaskFailed, MessageID: messageOf(err)}, nil
	default:
		return Progress{State: TaskGone}, nil
	}
}

// progressOf reads a Task, a job, or what a monitor answers. It is pure.
func progressOf(a answer, monitor bool) Progress {
	var b struct {
		TaskState, JobState text
		Messages            infos
	}
	_ = decode(a.body, &b) // A monitor that is done has nothing to say.
	word := letters(string(b.TaskState))
	if word == "" {
		word = letters(string(b.JobState))
	}
	state, over := ended[word]
	switch {
	case over && state == TaskFailed:
		return Progress{State: TaskFailed, MessageID: lastOf(b.Messages)}
	case over:
		return Progress{State: state}
	case word != "", a.status == http.StatusAccepted:
		return Progress{State: TaskRunning, Scheduled: slices.Contains(scheduled, word)}
	case monitor:
		return Progress{State: TaskDone}
	default:
		return Progress{}
	}
}

// lastOf is the newest well-formed MessageId.
func lastOf(said infos) string {
	for _, m := range slices.Backward(said) {
		if messageID.MatchString(string(m.ID)) {
			return string(m.ID)
		}
	}

	return ""
}

// tooSoon are the ends of the MessageIds by which a BMC says that it takes an
// action later: iLO's while the machine starts, and where one follows another
// too soon (openstack/sushy, release note retry-ilo-not-ready-error); iDRAC's
// while its data sources aren't there; and the standard's.
var tooSoon = []string{ //nolint:gochecknoglobals // A table.
	".InvalidOperationForSystemState", ".UnableToModifyDuringSystemPOST", ".SYS518", ".ResourceInUse", ".ResourceInStandby", ".ServiceTemporarilyUnavailable",
}

// TooSoon says whether a MessageId, as of MessageOf, means that the BMC takes the
// same action later.
func TooSoon(id string) bool { return endsInOne(id, tooSoon) }

// redundant says whether err means that there is nothing left to do: the
// standard's word for it, and iDRAC's.
func redundant(err error) bool {
	return slices.ContainsFunc(messagesOf(err), func(id string) bool { return endsInOne(id, []string{".NoOperation", ".PSU501"}) })
}

// MessageOf is what a BMC refused a request with: its most telling MessageId,
// else its status, such as "status 403"; "" where it didn't refuse one.
func MessageOf(err error) string {
	id, status := messageOf(err), statusOf(err)
	for _, said := range messagesOf(err) {
		if TooSoon(said) {
			id = said
		}
	}
	if id != "" || status == 0 {
		return id
	}

	return "status " + strconv.Itoa(status)
}

func messageOf(err error) string {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.MessageID
	}

	return ""
}

func messagesOf(err error) []string {
	if e, ok := errors.AsType[*Error](err); ok {
		return append([]string{e.MessageID}, e.messages...)
	}

	return nil
}

func endsInOne(id string, ends []string) bool {
	return slices.ContainsFunc(ends, func(end string) bool { return strings.HasSuffix(id, end) })
}
