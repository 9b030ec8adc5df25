package v1alpha1

// These accessors let the managed reconciler say in status which reconcile request, annotation crossplane.io/reconcile-requested-at, it has
// handled last. It asks the resource itself for them, and angryjet doesn't generate them.

// GetLastHandledReconcileAt of this NetBoxIPAddress.
func (mg *NetBoxIPAddress) GetLastHandledReconcileAt() string {
	return mg.Status.GetLastHandledReconcileAt()
}

// SetLastHandledReconcileAt of this NetBoxIPAddress.
func (mg *NetBoxIPAddress) SetLastHandledReconcileAt(token string) {
	mg.Status.SetLastHandledReconcileAt(token)
}

// GetLastHandledReconcileAt of this RedfishHost.
func (mg *RedfishHost) GetLastHandledReconcileAt() string {
	return mg.Status.GetLastHandledReconcileAt()
}

// SetLastHandledReconcileAt of this RedfishHost.
func (mg *RedfishHost) SetLastHandledReconcileAt(token string) {
	mg.Status.SetLastHandledReconcileAt(token)
}

// GetLastHandledReconcileAt of this BootEntry.
func (mg *BootEntry) GetLastHandledReconcileAt() string {
	return mg.Status.GetLastHandledReconcileAt()
}

// SetLastHandledReconcileAt of this BootEntry.
func (mg *BootEntry) SetLastHandledReconcileAt(token string) {
	mg.Status.SetLastHandledReconcileAt(token)
}
