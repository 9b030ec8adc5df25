// Package docs reads the pages of docs/operations as a person does who types what is in their sh blocks: what is run where, what is to be
// seen then, and what isn't run and why. The packages below it run them.
package docs
