# bootd from a folder of specs. $PROGRAMS has its program. The file of TFTP is one of its first stages, which it takes from $D/first.
SUT_CAPS="dhcp tftp"
SUT_BOOT=snponly.efi
SUT_TFTP_FILE=snponly.efi
# Blocks as UEFI asks for them, and one client with a window (RFC 7440), which the harness asks of sixteen alone.
SUT_TFTP_CASES="1468:0:1 1468:0:16 1468:0:64 1468:0:256 1468:16:1 1468:16:16"
sut_gen() {
  mkdir -p $D/entries $D/state $D/first
  cp $WWW/snponly.efi $D/first/; cp $WWW/snponly.efi $D/first/undionly.kpxe
  cp $SERVERS/site.yaml $D/entries/site.yaml
  awk -F, -f $SERVERS/entries.awk $D/hosts.csv > $D/entries/all.json
  echo MAC,IP | awk -F, -f $SERVERS/entries.awk > $D/one.json
  [ -n "${KERNEL:-}" ] || lived
  # For HTTP its machines boot a file that is there already: the one that nginx serves, too.
  [ -n "${KERNEL:-}" ] || return 0
  sum=$(sha256sum $KERNEL | cut -d' ' -f1)
  sed -i "s/sha256:[0-9a-f]*/sha256:$sum/" $D/entries/site.yaml
  mkdir -p $D/state/artifacts; cp $KERNEL $D/state/artifacts/sha256-$sum
}
# A life before, so that what is measured starts from a snapshot, as a bootd does but once. FIRST=1 measures that one.
lived() {
  [ -z "${FIRST:-}" ] || return 0
  $PROGRAMS/bootd --name=bench --source=dir:$D/entries --state-dir=$D/state --dhcp= --tftp= --http=127.0.0.1:0 --health-listen= --tftp-dir=$D/first >$D/lived.log 2>&1 &
  for _ in $(seq 1200); do
    [ ! -s $D/state/snapshot ] || break
    sleep 0.05
  done
  kill $!; wait $! || true
}
# Like its peers (quiet-dhcp, quiet-tftp, access_log off, severity ERROR) it doesn't write a line for each answer.
sut_cmd() {
  echo "$PROGRAMS/bootd --log-level=warn --name=bench --source=dir:$D/entries --state-dir=$D/state --dhcp=$SIP:67 --tftp=$SIP:69 --http=$SIP:8080 --health-listen= --tftp-dir=$D/first"
}
# By the shell alone: what is measured is bootd, and not how long awk takes to start. A file that is being written isn't one of its yet.
sut_add() {
  read -r x < $D/one.json
  x=${x/mMAC/m${1//:/}} x=${x/MAC/$1}
  echo "${x/IP/$2}" > $D/entries/$1.json
}
