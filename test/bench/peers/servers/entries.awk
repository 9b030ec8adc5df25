# One BootEntry a line of "mac,ip", in one line of JSON.
{
  n = $1; gsub(":", "", n)
  printf "---\n{\"apiVersion\":\"baremetal.m.crossplane.io/v1alpha1\",\"kind\":\"BootEntry\",\"metadata\":{\"namespace\":\"bench\",\"name\":\"%s\",\"uid\":\"%s\"},", n, n
  printf "\"status\":{\"atProvider\":{\"plan\":{\"digest\":\"sha256:0\",\"hostUID\":\"%s\",\"entryUID\":\"%s\",\"bound\":false,\"macs\":[\"%s\"],", n, n, $1
  printf "\"network\":{\"namespace\":\"bench\",\"name\":\"bench\",\"address\":\"%s/14\",\"gateway\":\"10.64.0.2\",\"dns\":[\"10.64.0.3\"],\"leaseSeconds\":3600},", $2
  printf "\"mode\":\"Live\",\"method\":\"Kernel\",\"artifacts\":[],\"installGeneration\":0,\"otherwise\":\"LocalDisk\"}}}}\n"
}
