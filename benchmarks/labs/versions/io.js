'use strict'

/*
 * node io.js FILE MB: the megabytes a second of writing a file through a stream, and of reading it back; in the language
 * of Node 0.8.
 */

var fs = require('fs')

var file = process.argv[2]
var size = Number(process.argv[3]) * 1e6 // bytes
var block = Buffer.alloc ? Buffer.alloc(65536) : new Buffer(65536) // as streams read

var left = size
var got = 0
var begin = process.hrtime()
var output = fs.createWriteStream(file).on('drain', more).on('close', read)
more()

function more () {
  var isFree = true
  for (; left > 0 && isFree; left -= block.length) isFree = output.write(left < block.length ? block.slice(0, left) : block)
  if (left > 0) return
  output.removeListener('drain', more)
  output.end()
}

function read () {
  var write = rate()
  begin = process.hrtime()
  fs.createReadStream(file).on('data', function (chunk) {
    got += chunk.length
  }).on('end', function () {
    if (got !== size) throw new Error(got + ' bytes were read of ' + size)
    fs.unlinkSync(file)
    console.log(JSON.stringify({ write: write, read: rate() }))
  })
}

function rate () {
  var took = process.hrtime(begin)
  return size / 1e6 / (took[0] + took[1] / 1e9)
}
