package inside

import (
	"errors"
	"fmt"
)

// Roles of the three processes.
const (
	roleKeeper = "keep"
	roleInit   = "init"
	roleRunner = "run"
)

// Main is a program that starts itself again in each role: ROLE PLAN.
func Main(args []string) error {
	if len(args) != 2 {
		return errors.New("this program is started by package node, with a role and a plan")
	}
	p, err := read(args[1])
	if err != nil {
		return err
	}
	switch args[0] {
	case roleKeeper:
		err = keep(p, args[1])
	case roleInit:
		err = first(p, args[1])
	case roleRunner:
		err = run(p)
	default:
		err = fmt.Errorf("there is no role %q", args[0])
	}
	if err != nil {
		report(Report{Failed: err.Error()})
	}
	return err
}
