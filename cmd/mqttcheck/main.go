// Command mqttcheck judges an MQTT broker statement by statement.
package main

import "os"

func main() { os.Exit(mqttcheck(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }
