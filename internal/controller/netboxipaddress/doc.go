// Package netboxipaddress manages NetBoxIPAddress: one record in NetBox, found again by its marker, never made twice.
package netboxipaddress
