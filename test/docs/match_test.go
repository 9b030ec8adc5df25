package docs

import "testing"

func TestMissing(t *testing.T) {
	const table = "NAME   READY   AGE\nr7-u12   True   3m2s\nr7-u13   False   5s\n"
	cases := map[string]struct {
		reason, want, got string
		ok                bool
	}{
		"Same":       {"What is printed is what the page says.", table, table, true},
		"Spaces":     {"Columns are as wide as they are.", "r7-u12 True", table, true},
		"Age":        {"Time passes.", "r7-u12 True 12s", table, true},
		"NotAge":     {"An age isn't a word.", "r7-u12 12s True", table, false},
		"Columns":    {"A page may leave columns out.", "NAME AGE", table, true},
		"Order":      {"Words are in their order.", "READY NAME", table, false},
		"Lines":      {"Lines are in their order.", "r7-u13 False\nr7-u12 True", table, false},
		"Twice":      {"One line printed isn't two.", "r7-u12 True\nr7-u12 3m2s", table, false},
		"Other":      {"A wrong word is seen.", "r7-u12 False", table, false},
		"Ellipsis":   {"What varies is left open, in a word or for words.", "r7-… … 3m2s", table, true},
		"Begin":      {"What comes before it counts.", "x7-…", table, false},
		"Meta":       {"A dot is a dot.", "10.77.0.2", "10x77x0x2", false},
		"BlankLines": {"Nothing is asked of blank lines.", "\n…\n", "", true},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if err := Missing(tc.want, tc.got); (err == nil) != tc.ok {
				t.Errorf("%s\ngot %v", tc.reason, err)
			}
		})
	}
}

func TestReads(t *testing.T) {
	cases := map[string]struct {
		reason, script string
		want           bool
	}{
		"Get":       {"Looking again does no harm.", "kubectl get pods\nkubectl -n infra get redfishhosts -o wide\n", true},
		"Apply":     {"What writes is run once.", "kubectl apply -f x\nkubectl get pods\n", false},
		"Continued": {"A long line is one.", "kubectl get pods \\\n  -o wide\n", true},
		"JSONPath":  {"A semicolon in quotes ends nothing.", "kubectl get pods -o jsonpath='{.a}; {.b} > {\"\\n\"}'\n", true},
		"Filter":    {"A filter only reads.", "kubectl get pods -A | grep 'web|db' | sort\n", true},
		"Piped":     {"What it's piped into may write.", "kubectl get pods | kubectl delete -f -\n", false},
		"Written":   {"A file is written.", "kubectl get pods > x\n", false},
		"Chained":   {"What follows may write.", "kubectl get pods; kubectl delete pod x\n", false},
		"Wait":      {"Waiting has its own patience.", "kubectl wait --for=condition=Ready pod x\n", false},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			if got := Reads(tc.script); got != tc.want {
				t.Errorf("%s\nwant %t, got %t", tc.reason, tc.want, got)
			}
		})
	}
}
