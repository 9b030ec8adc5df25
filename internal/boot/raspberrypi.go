package boot

// A NamedArtifact is a file that firmware asks for by a name of its own.
type NamedArtifact struct {
	Artifact

	Name string
}

// RaspberryPi is what the firmware of a Raspberry Pi asks for beside kernel and initrds.
type RaspberryPi struct {
	Files []NamedArtifact
	// Config are lines of its config.txt, which stand before our own.
	Config []string
}

// File gives a file by the name that the firmware asks for.
func (r *RaspberryPi) File(name string) (Artifact, bool) {
	if r == nil {
		return Artifact{}, false
	}
	for _, f := range r.Files {
		if f.Name == name {
			return f.Artifact, true
		}
	}
	return Artifact{}, false
}

// open is Artifacts.open; empty and nil are the same.
func (r *RaspberryPi) open() *RaspberryPi {
	if r == nil || len(r.Files)+len(r.Config) == 0 {
		return nil
	}
	files := append([]NamedArtifact(nil), r.Files...)
	for i := range files {
		files[i].PullSecret = ""
	}
	return &RaspberryPi{Files: some(files), Config: some(r.Config)}
}

// OnlyRaspberryPi says whether a plan has files for Raspberry Pis and none for what else says that it's a BIOS.
func (p *Plan) OnlyRaspberryPi() bool {
	pi := false
	for i := range p.Artifacts {
		if p.Artifacts[i].Arch == AMD64 {
			return false
		}
		pi = pi || p.Artifacts[i].RaspberryPi != nil
	}
	return pi
}
