package bmc

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	pathTasks    = "/redfish/v1/TaskService/Tasks"
	pathMonitors = "/redfish/v1/TaskService/TaskMonitors"
	pathJobs     = "/redfish/v1/JobService/Jobs"
)

// Async says how a BMC answers a power action that takes its time.
type Async string

// The ways.
const (
	// AsyncNever does it at once.
	AsyncNever Async = ""
	// AsyncTask answers 202 with a Task, which stays.
	AsyncTask Async = "Task"
	// AsyncMonitor answers 202 with a monitor, which is gone once it has told the
	// end, and its Task with it (XCC).
	AsyncMonitor Async = "Monitor"
	// AsyncMonitorOnly is the same without a body, so that nobody learns of the Task.
	AsyncMonitorOnly Async = "MonitorOnly"
	// AsyncJob answers 202 with the Location of a job, and no body (iDRAC).
	AsyncJob Async = "Job"
	// AsyncBare answers 202 and nothing else.
	AsyncBare Async = "Bare"
)

// task is something that a BMC does later. Guarded by BMC.mu.
type task struct {
	id     string
	due    time.Time
	effect func() (int, problem)
	done   bool
	bad    problem
}

// later answers a power action with 202 where the row says so, and notes what
// to do; false is to do it now.
func (b *BMC) later(w http.ResponseWriter, s *system, kind string) bool {
	if s.behaviour.Async == AsyncNever {
		return false
	}
	b.mu.Lock()
	t := b.note(s.behaviour.TaskTakes, func() (int, problem) { return b.resets(s, kind) })
	body := b.showTask(t)
	b.mu.Unlock()
	promise(w, s.behaviour.Async, t, body)

	return true
}

// note notes what to do after a while. Called with the lock held.
func (b *BMC) note(takes time.Duration, effect func() (int, problem)) *task {
	t := &task{id: strconv.Itoa(len(b.tasks) + 1), due: b.cfg.Now().Add(takes), effect: effect}
	b.tasks = append(b.tasks, t)

	return t
}

// promise answers 202, and where to ask how far it is.
func promise(w http.ResponseWriter, async Async, t *task, body object) {
	switch async {
	case AsyncTask:
		w.Header().Set("Location", pathTasks+"/"+t.id)
	case AsyncMonitor:
		w.Header().Set("Location", pathMonitors+"/"+t.id)
	case AsyncMonitorOnly, AsyncJob, AsyncNever, AsyncBare:
		if where := map[Async]string{AsyncMonitorOnly: pathMonitors, AsyncJob: pathJobs}[async]; where != "" {
			w.Header().Set("Location", where+"/"+t.id)
		}
		w.WriteHeader(http.StatusAccepted)

		return
	}
	reply(w, http.StatusAccepted, body)
}

// showTask writes a Task's resource. Called with the lock held.
func (b *BMC) showTask(t *task) object {
	state, status, percent := "Running", "OK", 0
	messages := []object{}
	switch {
	case t.done && t.bad.message != "":
		state, status, percent = "Exception", "Warning", 100
		messages = append(messages, b.info(t.bad))
	case t.done:
		state, percent = "Completed", 100
	}
	b.store.put(pathTasks+"/"+t.id, object{
		"@odata.type": "#Task.v1_7_0.Task", "Id": t.id, "Name": "Task " + t.id, "TaskState": state, "TaskStatus": status,
		"PercentComplete": percent, "TaskMonitor": pathMonitors + "/" + t.id, "Messages": messages,
	})
	b.store.put(pathJobs+"/"+t.id, object{
		"@odata.type": "#Job.v1_2_0.Job", "Id": t.id, "Name": "Job " + t.id, "JobState": state, "PercentComplete": percent, "Messages": messages,
	})

	return b.store.body(pathTasks + "/" + t.id)
}

// finishTasks does what is due. It is called with every request, so that a
// test's clock decides.
func (b *BMC) finishTasks() {
	b.mu.Lock()
	now := b.cfg.Now()
	var due []*task
	for _, t := range b.tasks {
		if t.effect != nil && !now.Before(t.due) {
			due = append(due, t)
		}
	}
	effects := make([]func() (int, problem), 0, len(due))
	for _, t := range due {
		effects = append(effects, t.effect)
		t.effect = nil
	}
	b.mu.Unlock()
	for i, effect := range effects { // A machine is never told with the lock held.
		_, bad := effect()
		b.mu.Lock()
		due[i].done, due[i].bad = true, bad
		if b.store.get(pathTasks+"/"+due[i].id) != nil {
			b.showTask(due[i])
		}
		b.mu.Unlock()
	}
}

// monitor answers for a task's monitor; false is none.
func (b *BMC) monitor(w http.ResponseWriter, path string) bool {
	id, ok := strings.CutPrefix(treeKey(path), treeKey(pathMonitors)+"/")
	if !ok {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	body := b.store.body(pathTasks + "/" + id)
	switch {
	case body == nil:
		return false
	case body["TaskState"] == "Running":
		reply(w, http.StatusAccepted, body)
	default:
		b.store.remove(pathTasks + "/" + id)
		w.WriteHeader(http.StatusNoContent)
	}

	return true
}

// LoseTasks makes the BMC forget its tasks; what they were for happens all the
// same.
func (b *BMC) LoseTasks() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.forgetTasks()
}

// dropTasks ends all tasks, as a restart does: what wasn't done yet never is.
// Called with the lock held.
func (b *BMC) dropTasks() {
	b.forgetTasks()
	for _, t := range b.tasks {
		t.effect = nil
	}
}

// forgetTasks takes the tasks' resources away. Called with the lock held.
func (b *BMC) forgetTasks() {
	for _, t := range b.tasks {
		b.store.remove(pathTasks + "/" + t.id)
		b.store.remove(pathJobs + "/" + t.id)
	}
}
