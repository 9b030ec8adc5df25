# One BootEntry a line of "mac,ip", as a line of JSON.
{
  n = $1; gsub(":", "", n)
  printf "{\"apiVersion\":\"baremetal.m.crossplane.io/v1alpha1\",\"kind\":\"BootEntry\",\"metadata\":{\"namespace\":\"bench\",\"name\":\"m%s\"},", n
  printf "\"spec\":{\"forProvider\":{\"machine\":{\"macs\":[\"%s\"]},\"profileRef\":{\"name\":\"bench\"},\"install\":{\"generation\":0},", $1
  printf "\"networks\":[{\"name\":\"boot\",\"networkRef\":{\"name\":\"bench\"},\"addresses\":[{\"address\":\"%s/14\"}]}]}}}\n", $2
}
