package bmc

import (
	"net/http"
	"strings"
)

// Names of messages of the standard's registry that are used often.
const (
	msgMissing    = "ResourceMissingAtURI"
	msgNotAllowed = "OperationNotAllowed"
	msgType       = "PropertyValueTypeError"
	msgInUse      = "ResourceInUse"
	msgMalformed  = "MalformedJSON"
	msgIncomplete = "PropertyMissing"
)

// problem is what is wrong with a request: the name of a message of the
// standard's registry, and the property or value that it is about.
type problem struct {
	message string
	// property is a JSON pointer without its beginning, such as
	// Boot/BootSourceOverrideMode; "" is none.
	property string
	value    string
	// status goes with it; 0 is 400.
	status int
}

// statusOf is the status of a write that has these problems.
func statusOf(problems []problem) int {
	if s := problems[0].status; s != 0 {
		return s
	}

	return http.StatusBadRequest
}

// fail answers with the error body of the Redfish specification (DSP0266, 8.6),
// in the words of the BMC's vendor where it has its own.
func (b *BMC) fail(w http.ResponseWriter, status int, problems ...problem) {
	infos := make([]object, 0, len(problems))
	for _, p := range problems {
		infos = append(infos, b.info(p))
	}
	code := b.messageID("GeneralError")
	if len(problems) == 1 {
		code, _ = infos[0]["MessageId"].(string)
	}
	if b.behaviour.Code != "" {
		code = b.behaviour.Code
	}
	reply(w, status, object{"error": object{
		"code": code, "message": "See @Message.ExtendedInfo.", "@Message.ExtendedInfo": infos,
	}})
}

// done answers a write that was taken.
func (b *BMC) done(w http.ResponseWriter, behaviour Behaviour) {
	if behaviour.Done != http.StatusOK {
		headers(w)
		w.WriteHeader(http.StatusNoContent)

		return
	}
	reply(w, http.StatusOK, object{"@Message.ExtendedInfo": []object{b.info(problem{message: "Success"})}})
}

func (b *BMC) info(p problem) object {
	severity := "Warning"
	if p.message == "Success" {
		severity = "OK"
	}
	info := object{"MessageId": b.messageID(p.message), "Message": "The emulated BMC says " + p.message + ".", "Severity": severity, "Resolution": "None."}
	var args []string
	if p.property != "" {
		info["RelatedProperties"] = []string{"#/" + p.property}
		args = append(args, p.property[strings.LastIndex(p.property, "/")+1:])
	}
	if p.value != "" {
		args = append([]string{p.value}, args...)
	}
	if len(args) > 0 {
		info["MessageArgs"] = args
	}

	return info
}

func (b *BMC) messageID(message string) string {
	if own := b.behaviour.Says[message]; own != "" {
		return own
	}
	registry := b.behaviour.Registry
	if registry == "" {
		registry = "Base.1.18"
	}

	return registry + "." + message
}

// notAllowed answers a method that a resource hasn't.
func (b *BMC) notAllowed(w http.ResponseWriter, path string) {
	b.mu.Lock()
	w.Header().Set("Allow", b.allow(path))
	b.mu.Unlock()
	b.fail(w, http.StatusMethodNotAllowed, problem{message: msgNotAllowed})
}

// allow lists the methods that a path has. Called with the lock held.
func (b *BMC) allow(path string) string {
	methods := []string{http.MethodGet, http.MethodHead}
	switch {
	case b.isSessions(path):
		methods = append(methods, http.MethodPost)
	case strings.HasPrefix(treeKey(path), treeKey(b.sessions)+"/"):
		methods = append(methods, http.MethodDelete)
	case b.resettable(path) != nil:
		methods = []string{http.MethodPost}
	case b.writable(path) != nil:
		methods = append(methods, http.MethodPatch)
	}

	return strings.Join(methods, ", ")
}
