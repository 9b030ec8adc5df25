package netboxipaddress

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/crossplane-contrib/provider-baremetal/apis/v1alpha1"
	"github.com/crossplane-contrib/provider-baremetal/internal/clients/netbox"
)

// Where the answer to a POST is lost and from is edited before its record is found, that is of none of the sources that spec names by then. It's kept, as
// any address that was given: it would be deleted by what annotations say alone, and after a restore of this cluster's data to that moment a machine
// may be using it. A record that is misplaced though nobody has edited from, or in a table that no source is of, is a person's to decide.

// fromDigest tells what an address is asked for from, in the word of its asking.
func fromDigest(mg *v1alpha1.NetBoxIPAddress) string {
	return fmt.Sprintf("%.8x", sha256.Sum256([]byte(fromWords(mg.Spec.ForProvider))))
}

// askedFrom is what a resource asked from when it did so last, or where an earlier asking may be answered yet then; "" where it isn't known.
func askedFrom(mg *v1alpha1.NetBoxIPAddress) string {
	_, digest, _ := strings.Cut(mg.GetAnnotations()[v1alpha1.AnnotationAsked], "-")
	return digest
}

// wordOf an asking that is about to begin; last is until when one before was given up, and may come a while after that.
func (c *Connector) wordOf(mg *v1alpha1.NetBoxIPAddress, last time.Time) string {
	digest := fromDigest(mg)
	if time.Now().Before(last.Add(c.Outstanding + c.Asking)) {
		digest = askedFrom(mg)
	}
	return strings.TrimSuffix(rand.Text()+"-"+digest, "-")
}

// keptFrom says of a record that is of none of the sources, which is what err says, whether it's kept since it was asked for from others: nil then.
func (e *external) keptFrom(ctx context.Context, mg *v1alpha1.NetBoxIPAddress, ip netbox.IPAddress, err error) error {
	asked, m := askedFrom(mg), misplacedError{}
	if !errors.As(err, &m) || !m.beside || asked == "" || asked == fromDigest(mg) {
		return err
	}
	around, ferr := e.netbox.FindAround(ctx, ip.Address.Addr(), tableRef(ip.VRF))
	if ferr == nil {
		_, ferr = e.allowedAll(around, deref(mg.Spec.ForProvider.DNSName))
	}
	if ferr == nil { // By that it's said where the address is from.
		e.connector.origins.put(mg.GetUID(), origin{parent: around})
	}
	return nil
}
