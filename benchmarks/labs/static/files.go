// net/http's FileServer over one directory: ROOT, HOST and PORT are in the environment.
package main

import (
	"log"
	"net/http"
	"os"
)

func main() {
	address := os.Getenv("HOST") + ":" + os.Getenv("PORT")
	log.Fatal(http.ListenAndServe(address, http.FileServer(http.Dir(os.Getenv("ROOT")))))
}
