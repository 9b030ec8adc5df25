package node

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/crossplane-contrib/provider-baremetal/cluster/local/programs"
)

// An Image that the registry builds at its start, of this machine's architecture. The fields are those of the program
// tools/registry, which is in another module.
type Image struct {
	// Name is repository:tag.
	Name string `json:"name"`
	// User that its programs run as, a number.
	User string `json:"user"`
	// Entrypoint is what it runs.
	Entrypoint []string `json:"entrypoint"`
	// Files by their absolute path in the image: the file or folder on this machine that is copied there.
	Files map[string]string `json:"files"`
	// Text files by their absolute path in the image.
	Text map[string]string `json:"text"`
}

// Ref is what a pod calls the image.
func (i Image) Ref() string { return Registry + "/" + i.Name }

// manifest is the URL of its manifest.
func (i Image) manifest() string {
	repository, tag, _ := strings.Cut(i.Name, ":")
	return "http://" + Registry + "/v2/" + repository + "/manifests/" + tag
}

const (
	pauseImage = "pause:3.10"
	nobody     = "65535"
	// crossplaneUser is the one of Crossplane's own image.
	crossplaneUser = "65532"
)

// ownImages are those of the cluster itself, and Crossplane's, made as its own build makes it: the program with its CRDs and
// webhook configurations.
func ownImages(set programs.Set) []Image {
	cluster := filepath.Join(set.CrossplaneModule, "cluster")
	return []Image{
		{Name: pauseImage, User: nobody, Entrypoint: []string{"/pause"}, Files: map[string]string{"/pause": set.Path[programs.Pause]}},
		{
			Name: "coredns/coredns:" + programs.CoreDNSVersion, User: nobody, Entrypoint: []string{"/coredns"},
			Files: map[string]string{"/coredns": set.Path[programs.CoreDNS]},
		},
		{
			Name: crossplaneRepository + ":" + programs.CrossplaneVersion, User: crossplaneUser, Entrypoint: []string{"/bin/crossplane"},
			Files: map[string]string{
				"/bin/crossplane":        set.Path[programs.Crossplane],
				"/crds":                  filepath.Join(cluster, "crds"),
				"/webhookconfigurations": filepath.Join(cluster, "webhookconfigurations"),
			},
			Text: map[string]string{ //nolint:gosec // An image's users, who have no passwords.
				"/etc/passwd":        "root:x:0:0:root:/root:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n",
				"/etc/group":         "root:x:0:\nnonroot:x:65532:\n",
				"/etc/nsswitch.conf": "hosts: files dns\n",
			},
		},
	}
}

func writeImages(path string, images []Image) error {
	b, err := json.MarshalIndent(images, "", "  ")
	if err != nil {
		return fmt.Errorf("cannot encode the list of images: %w", err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		return fmt.Errorf("cannot write the list of images: %w", err)
	}
	return nil
}
