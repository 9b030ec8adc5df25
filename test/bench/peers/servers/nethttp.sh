# The ceiling of http_script_ratio: Go's net/http that answers a constant of a script's size.
SUT_CAPS="http"
SUT_HTTP_BIG=""
sut_cmd() { echo "$PROGRAMS/nethttp -addr=$SIP:8080"; }
