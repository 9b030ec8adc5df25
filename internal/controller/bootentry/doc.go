// Package bootentry reconciles BootEntry: it resolves the plan that bootd serves, keeps the BootSession
// and its grant, and says what is missing.
package bootentry
