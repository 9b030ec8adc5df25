package boot

import (
	"fmt"
	"slices"
	"strings"
)

// CarriedByIPXE says why a word of a command line can't be put into an iPXE script: iPXE would take it for something else. (Its language:
// https://ipxe.org/scripting; there is no way to quote.)
func CarriedByIPXE(word string) error {
	switch {
	case !printable(word):
		return fmt.Errorf("the word %q isn't printable ASCII", word)
	case word == "||" || word == "&&" || word == ";" || strings.HasPrefix(word, "#"):
		return fmt.Errorf("the word %q would end the command in an iPXE script", word)
	case strings.Contains(word, "${"):
		return fmt.Errorf("the word %q holds ${, which iPXE would replace by a setting", word)
	case strings.HasSuffix(word, `\`):
		return fmt.Errorf("the word %q ends with a backslash, which would join it with the next line", word)
	}
	return nil
}

// CarriedByGrub says why a word can't be told to grub: within single quotes it takes all but these as they are, and what it hands to the
// kernel it escapes by backslashes of its own, which no kernel takes away again.
func CarriedByGrub(word string) error {
	switch {
	case !printable(word):
		return fmt.Errorf("the word %q isn't printable ASCII", word)
	case strings.ContainsAny(word, `'"\`):
		return fmt.Errorf(`the word %q holds a quote or a backslash, which grub would hand to the kernel as another word`, word)
	}
	return nil
}

// CarriedByFile says why a word can't be written into a Raspberry Pi's cmdline.txt.
func CarriedByFile(word string) error {
	if !printable(word) {
		return fmt.Errorf("the word %q isn't printable ASCII", word)
	}
	return nil
}

func printable(word string) bool {
	for i := range len(word) { // Each script asks it of each word.
		if c := word[i]; c <= ' ' || c > '~' {
			return false
		}
	}
	return true
}

// byIPXE says that a machine which boots a profile has iPXE, whatever it turns out to be. One that takes shim has grub where its firmware is UEFI, and one
// of ARM64 where there's no iPXE for that, or it's U-Boot; a Raspberry Pi has neither.
func byIPXE(files []Artifacts, first FirstStage) bool {
	return first != FirstStageShim && !slices.ContainsFunc(files, func(a Artifacts) bool {
		return a.RaspberryPi != nil || a.Arch == ARM64 && first != FirstStageNativeIPXE
	})
}

// checkCarried says which word of a command line what loads the kernel can't hand on, as far as it's known what that is before the machine boots;
// nil: none.
func checkCarried(p Profile, first FirstStage, words []string) *Problem {
	carried := CarriedByFile
	if byIPXE(p.Artifacts, first) {
		carried = CarriedByIPXE
	}
	for _, part := range words {
		for word := range strings.FieldsSeq(part) {
			if err := carried(word); err != nil {
				return &Problem{ProblemInvalid, fmt.Sprintf(
					"the command line that BootProfile %s makes can't be handed to a kernel: %s; correct it there, in the entry's parameters, or in the host's commandLine", p.Name, err)}
			}
		}
	}
	return nil
}
