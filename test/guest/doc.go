// Package guest builds what the real-firmware tests boot: a kernel from Debian, an initramfs around a static Go program,
// and a small disk image that BIOS and UEFI start.
//
// It needs no root, no mounts and no loop devices. From Debian it needs apt-get, dpkg-deb and GRUB's images.
package guest
