package httpboot

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/crossplane-contrib/provider-baremetal/internal/boot"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/artifacts"
	"github.com/crossplane-contrib/provider-baremetal/internal/bootd/gate"
)

func owned(r *rig) {
	r.session.Consumed = &boot.Consumption{GrantID: grantID, EntryUID: "entry", Generation: 1, PlanDigest: r.plan.Digest(), Nonce: gate.Nonce(r.key, scriptNonce, grantID, boot.AMD64), At: r.now}
}

// destroys makes the machine's plan one whose kernel needs no second question.
func destroys(r *rig) {
	r.plan.Method = boot.MethodKernel
	owned(r)
}

func talos(r *rig) {
	r.plan.Method, r.plan.UserDataFormat = boot.MethodInstaller, boot.UserDataTalos
	owned(r)
}

// reported makes it one of that method and format whose install was reported.
func reported(m boot.Method, format string) func(*rig) {
	return func(r *rig) {
		r.plan.Method, r.plan.UserDataFormat = m, format
		owned(r)
		r.session.Installed = &boot.Result{GrantID: grantID, Generation: 1}
	}
}

func TestFiles(t *testing.T) {
	live := func(r *rig) { r.plan.Mode = boot.ModeLive }
	cases := map[string]struct {
		reason string
		change func(*rig)
		claims boot.Claims
		method string
		path   string
		header []string
		status int
		body   string
		calls  []string
	}{
		"Kernel": {
			reason: "a kernel consumes nothing", path: "files/sha256-aaaa", status: 200, body: "kernel",
		},
		"Initrd": {
			reason: "nor does an initrd", path: "files/sha256-bbbb", status: 200, body: "initrd",
		},
		"ImageAsFile": {
			reason: "the image can't be had past the grant", path: "files/sha256-cccc", status: 404,
		},
		"Unknown": {
			reason: "another plan's file isn't served", path: "files/sha256-dddd", status: 404,
		},
		"Revoked": {
			reason: "a closed session gives no kernel", change: func(r *rig) { r.session.Revocation = "r" }, path: "files/sha256-aaaa", status: 403,
		},
		"OldGrant": {
			reason: "a token of an earlier grant is no good", claims: boot.Claims{GrantID: "00000000000000ee"}, path: "files/sha256-aaaa", status: 403,
		},
		"ScriptToken": {
			reason: "a script's token opens nothing else", claims: boot.Claims{Kind: boot.TokenScript}, path: "files/sha256-aaaa", status: 403,
		},
		"LiveKernel": {
			reason: "a live boot's token is of its plan", change: live, path: "files/sha256-aaaa", status: 200, body: "kernel",
		},
		"LiveOldPlan": {
			reason: "a live boot's token ends with its plan", change: live, claims: boot.Claims{GrantID: "00000000000000ee"}, path: "files/sha256-aaaa", status: 403,
		},
		"DestructiveKernel": {
			reason: "that such a kernel goes out is noted before its first byte", change: destroys, path: "files/sha256-aaaa",
			status: 200, body: "kernel", calls: []string{"deliver"},
		},
		"DestructiveKernelHead": {
			reason: "a HEAD isn't it", change: destroys, method: http.MethodHead, path: "files/sha256-aaaa", status: 200,
		},
		"DestructiveKernelAPIDown": {
			reason: "what can't be noted isn't given", change: func(r *rig) { destroys(r); r.sessions.err = errors.New("refused") },
			path: "files/sha256-aaaa", status: 503, calls: []string{"deliver"},
		},
		"DestructiveKernelOfAnother": {
			reason: "nor to a boot that didn't use the grant", change: func(r *rig) { destroys(r); r.sessions.err = boot.ErrConsumed },
			path: "files/sha256-aaaa", status: 403, calls: []string{"deliver"},
		},
		"Image": {
			reason: "the first byte of an image consumes", path: "image", status: 200, body: "0123456789", calls: []string{"consume"},
		},
		"ImageGone": {
			reason: "nor does it for an image that can't be had", change: func(r *rig) { r.files.err = &artifacts.Error{Reason: artifacts.ReasonFetch} }, path: "image", status: 502,
		},
		"ImageOnItsWay": {
			reason: "nor for one that isn't there yet", change: func(r *rig) { r.files.err = artifacts.ErrFetching }, path: "image", status: 503,
		},
		"ImageGoneUsed": {
			reason: "who may have none hears that, and not of its image", path: "image", status: 403, calls: []string{"consume"},
			change: func(r *rig) {
				r.files.err, r.sessions.err = artifacts.ErrFetching, boot.ErrConsumed
				r.session.Consumed = &boot.Consumption{GrantID: grantID, EntryUID: "entry", Generation: 1, Nonce: "another"}
			},
		},
		"ImageOfNone": {
			reason: "nor for one that the profile doesn't have", change: func(r *rig) { r.plan.Artifacts[0].Image = nil }, path: "image", status: 404,
		},
		"ImageHead": {
			reason: "a HEAD doesn't", method: http.MethodHead, path: "image", status: 200,
		},
		"ImageRange": {
			reason: "a broken transfer goes on, and consumes nothing again", change: owned, path: "image", header: []string{"Range", "bytes=4-"},
			status: 206, body: "456789",
		},
		"ImageAPIDown": {
			reason: "without the API no first byte", change: func(r *rig) { r.sessions.err = errors.New("refused") }, path: "image", status: 503,
			calls: []string{"consume"},
		},
		"ImageOwnedAPIDown": {
			reason: "a transfer that began goes on through an outage", change: func(r *rig) { owned(r); r.sessions.err = errors.New("refused") },
			path: "image", status: 200, body: "0123456789",
		},
		"ImageRefused": {
			reason: "another boot's grant", change: func(r *rig) { r.sessions.err = boot.ErrConsumed }, path: "image", status: 403, calls: []string{"consume"},
		},
		"ImageAfterwards": {
			reason: "an install that was reported needs no image any more",
			change: func(r *rig) { owned(r); r.session.Installed = &boot.Result{GrantID: grantID, Generation: 1} }, path: "image", status: 403,
		},
		"ImagePlanChanged": {
			reason: "the profile was edited: no boot gets the rest of another image than it was granted",
			change: func(r *rig) { owned(r); r.plan.Artifacts[0].Image.Digest = kernelDigest }, path: "image",
			header: []string{"Range", "bytes=4-"}, status: 403,
		},
		"UserDataPlanChanged": {
			reason: "nor the user data of a later edit",
			change: func(r *rig) { owned(r); r.plan.UserDataDigest = "sha256:later" }, path: "user-data", status: 403,
		},
		"UserDataRevoked": {
			reason: "the session was closed, and the watch hasn't heard of it yet",
			change: func(r *rig) { owned(r); r.sessions.err = boot.ErrRevoked }, path: "user-data", status: 403, calls: []string{"unended"},
		},
		"LiveImage": {
			reason: "a live boot has no grant to consume", change: live, path: "image", status: 200, body: "0123456789",
		},
		"UserData": {
			reason: "user data consumes", path: "user-data", status: 200, body: "#cloud-config\n{}\n", calls: []string{"consume", "unended"},
		},
		"UserDataCondition": {
			reason: "nobody has it already, whatever is said: a 304 would count as given", path: "user-data", header: []string{"If-None-Match", "*"},
			status: 200, body: "#cloud-config\n{}\n", calls: []string{"consume", "unended"},
		},
		"UserDataHead": {
			reason: "not even its length before", method: http.MethodHead, path: "user-data", status: 200,
		},
		"MetaDataMissing": {
			reason: "what isn't there", change: owned, path: "meta-data", status: 404, calls: []string{"unended"},
		},
		"AnswersAfterwards": {
			reason: "an installer that is done has no more questions", change: reported(boot.MethodInstaller, boot.UserDataKickstart), path: "user-data", status: 403,
		},
		"KernelsAnswersAfterwards": {
			reason: "by whatever method it came", change: reported(boot.MethodKernel, boot.UserDataIgnition), path: "user-data", status: 403,
		},
		"DataAfterwards": {
			reason: "an installer of disk images has written it onto the disk before it reports",
			change: reported(boot.MethodDiskImage, boot.UserDataCloudInit), path: "user-data", status: 403,
		},
		"MetaDataAfterwards": {
			reason: "all parts of it", change: reported(boot.MethodDiskImage, boot.UserDataNone), path: "meta-data", status: 403,
		},
		"NetworkConfigAfterwards": {
			reason: "also those that an installer can have without a Secret", change: reported(boot.MethodDiskImage, boot.UserDataNone), path: "network-config", status: 403,
		},
		"DataAfterFailed": {
			reason: "one that failed may try again: the boot is the same",
			change: func(r *rig) { owned(r); r.session.Failed = &boot.Result{GrantID: grantID, Generation: 1} },
			path:   "user-data", status: 200, body: "#cloud-config\n{}\n", calls: []string{"unended"},
		},
		"KernelAfterwards": {
			reason: "cloud-init asks on the system that a kernel of somebody's own has installed",
			change: reported(boot.MethodKernel, boot.UserDataCloudInit), path: "user-data", status: 200, body: "#cloud-config\n{}\n", calls: []string{"check"},
		},
		"ScriptAfterwards": {
			reason: "and so it does on a script's",
			change: reported(boot.MethodScript, boot.UserDataCloudInit), path: "user-data", status: 200, body: "#cloud-config\n{}\n", calls: []string{"check"},
		},
		"VendorDataMissing": {
			reason: "cloud-init wants an answer", change: owned, path: "vendor-data", status: 200, calls: []string{"unended"},
		},
		"NetworkConfigMissing": {
			reason: "so it does here", change: owned, path: "network-config", status: 200, calls: []string{"unended"},
		},
		"TalosInTime": {
			reason: "an install that goes on has its answers", change: func(r *rig) { talos(r); r.session.Consumed.At = r.now.Add(-talosPatience) },
			path: "user-data", status: 200, body: "#cloud-config\n{}\n", calls: []string{"unended"},
		},
		"TalosAfterwards": {
			reason: "Talos never says that it's done, and has the URL in its boot loader",
			change: func(r *rig) { talos(r); r.session.Consumed.At = r.now.Add(-talosPatience - time.Second) }, path: "user-data", status: 403,
		},
		"TalosTimeout": {
			reason: "the profile says how long", change: func(r *rig) {
				r.plan.InstallTimeout = time.Minute
				talos(r)
				r.session.Consumed.At = r.now.Add(-2 * time.Minute)
			}, path: "user-data", status: 403,
		},
		"NetworkConfigFilled": {
			reason: "the machine's place is that of its plan", change: func(r *rig) {
				r.plan.Network.MTU = 9000
				owned(r)
				r.data["network-config"] = []byte("version: 2 # {{ .mtu }}\n")
			}, path: "network-config", status: 200, body: "version: 2 # 9000\n", calls: []string{"unended"},
		},
		"NetworkConfig": {
			reason: "it consumes like all of the data", change: func(r *rig) { r.data["network-config"] = []byte("version: 2\n") },
			path: "network-config", status: 200, body: "version: 2\n", calls: []string{"consume", "unended"},
		},
		"NetworkOfNobody": {
			reason: "an entry that says no interface has none", change: owned, path: "nmstate", status: 404, calls: []string{"unended"},
		},
		"TalosNetworkOfNobody": {
			reason: "in no language", change: owned, path: "talos-network", status: 404, calls: []string{"unended"},
		},
		"DataAPIDown": {
			reason: "the Secret can't be read", change: func(r *rig) { owned(r); r.dataErr = errors.New("refused") }, path: "user-data", status: 503,
			calls: []string{"unended"},
		},
		"ImageLate": {
			reason: "a boot of a newer grant has begun since", path: "image", status: 403, change: func(r *rig) {
				owned(r)
				r.session.Grant, r.session.OpenedGrantID = &boot.Grant{ID: "newer", Generation: 2}, "newer"
			},
		},
		"Unavailable": {
			reason: "its server is away", change: func(r *rig) { r.files.err = &artifacts.Error{Reason: artifacts.ReasonFetch} }, path: "files/sha256-aaaa", status: 502,
		},
		"Traversal": {
			reason: "a digest is no path", path: "files/..%2f..%2fetc%2fpasswd", status: 404,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, tc.change)
			c := tc.claims
			if c.Kind == 0 {
				c.Kind = boot.TokenBoot
			}
			if c.GrantID == "" {
				c.GrantID = grantID
				if r.plan.Mode == boot.ModeLive {
					c.GrantID = gate.LiveID(&r.plan)
				}
			}
			c.Nonce = r.nonce()
			method := tc.method
			if method == "" {
				method = http.MethodGet
			}
			got := r.do(method, "/v1/boot/"+r.mint(c)+"/"+tc.path, "", tc.header...)
			if got.status != tc.status || tc.status < 300 && got.body != tc.body {
				t.Errorf("%s: %d %q, want %d %q", tc.reason, got.status, got.body, tc.status, tc.body)
			}
			var calls []string
			for _, c := range tc.calls {
				if c != "unended" && c != "check" {
					c += " " + r.nonce()
				}
				calls = append(calls, c)
			}
			if diff := cmp.Diff(calls, r.sessions.calls); diff != "" {
				t.Errorf("%s: calls -want +got:\n%s", tc.reason, diff)
			}
		})
	}
}

func TestNeverByAddress(t *testing.T) {
	r := newRig(t, owned)
	for _, h := range []string{"X-Forwarded-For", "X-Real-IP", "Forwarded", "Host"} {
		if got := r.do(http.MethodGet, "/v1/boot/x/user-data", "", h, "10.77.0.11"); got.status != http.StatusForbidden || got.body != "forbidden\n" {
			t.Errorf("%s: %d %q", h, got.status, got.body)
		}
	}
}

func TestFirmware(t *testing.T) {
	r := newRig(t, nil)
	if got := r.do(http.MethodHead, "/v1/firmware/snponly.efi", ""); got.status != 200 || got.header.Get("Content-Length") != "4" {
		t.Errorf("UEFI asks by HEAD for the length: %d %v", got.status, got.header)
	}
	if got := r.do(http.MethodGet, "/v1/firmware/passwd", ""); got.status != 404 {
		t.Errorf("another file: %d", got.status)
	}
}

func TestCallbacks(t *testing.T) {
	cases := map[string]struct {
		reason, verb, body string
		change             func(*rig)
		status             int
		calls              []string
	}{
		"Begin":        {reason: "the first callback consumes", verb: "begin", status: 204, calls: []string{"consume NONCE"}},
		"BeginAgain":   {reason: "a repeat doesn't", verb: "begin", change: owned, status: 204},
		"BeginRefused": {reason: "another boot", verb: "begin", change: func(r *rig) { r.sessions.err = boot.ErrSuperseded }, status: 403, calls: []string{"consume NONCE"}},
		"BeginAPIDown": {reason: "it's asked to try again", verb: "begin", change: func(r *rig) { r.sessions.err = errors.New("refused") }, status: 503, calls: []string{"consume NONCE"}},
		"BeginAfterwards": {reason: "a boot that has reported its install doesn't begin another", verb: "begin", change: func(r *rig) {
			owned(r)
			r.session.Installed = &boot.Result{GrantID: grantID, Generation: 1}
		}, status: 403},
		"Progress":      {reason: "progress is a sighting", verb: "progress", body: `{"percent":50}`, change: owned, status: 204},
		"ProgressEarly": {reason: "what the watch hasn't delivered is asked for", verb: "progress", status: 204, calls: []string{"check"}},
		"Installed":     {reason: "with what it says", verb: "installed", body: `{"message":"ok\u0007","percent":100}`, change: owned, status: 204, calls: []string{"installed ok (100 %)"}},
		"Failed":        {reason: "with what it says", verb: "failed", body: `{"message":"no disk"}`, change: owned, status: 204, calls: []string{"failed no disk"}},
		"Booted":        {reason: "the system", verb: "booted", change: owned, status: 204, calls: []string{"booted "}},
		"Garbage":       {reason: "no JSON", verb: "failed", body: "<xml>", change: owned, status: 400},
		"Large":         {reason: "bounded", verb: "failed", body: `{"message":"` + strings.Repeat("x", maxBody) + `"}`, change: owned, status: 413},
		"Unknown":       {reason: "no such callback", verb: "explode", status: 404},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, tc.change)
			got := r.do(http.MethodPost, "/v1/boot/"+r.bootToken()+"/"+tc.verb, tc.body)
			if got.status != tc.status {
				t.Errorf("%s: %d %q, want %d", tc.reason, got.status, got.body, tc.status)
			}
			var calls []string
			for _, c := range tc.calls {
				calls = append(calls, strings.ReplaceAll(c, "NONCE", r.nonce()))
			}
			if diff := cmp.Diff(calls, r.sessions.calls); diff != "" {
				t.Errorf("%s: calls -want +got:\n%s", tc.reason, diff)
			}
			if tc.status == 503 && got.header.Get("Retry-After") == "" {
				t.Errorf("%s: it isn't told when", tc.reason)
			}
		})
	}
}

// TestSentIsSaid: the cache keeps what is being sent, and must hear when that's over, however it ends.
func TestSentIsSaid(t *testing.T) {
	for name, ask := range map[string][]string{
		"Whole": {http.MethodGet}, "Head": {http.MethodHead}, "Part": {http.MethodGet, "Range", "bytes=1-2"}, "NoSuchPart": {http.MethodGet, "Range", "bytes=99-"},
	} {
		r := newRig(t, func(*rig) {})
		r.do(ask[0], "/v1/boot/"+r.bootToken()+"/files/sha256-aaaa", "", ask[1:]...)
		for end := time.Now().Add(10 * time.Second); r.files.sent.Load() == 0 && time.Now().Before(end); { // The answer comes first.
			time.Sleep(time.Millisecond)
		}
		if opened, sent := r.files.opened.Load(), r.files.sent.Load(); opened != 1 || sent != 1 {
			t.Errorf("%s: opened %d times, sent %d", name, opened, sent)
		}
	}
}
