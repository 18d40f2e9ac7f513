'use strict'

/*
 * node io.js FILE MB: the megabytes a second of writing a file through a stream, and of reading it back; in the language
 * of Node 0.8.
 */

var fs = require('fs')

var file = process.argv[2]
var size = Number(process.argv[3]) * 1e6 // bytes
var BLOCK = 65536 // bytes, as streams read

var block = Buffer.alloc ? Buffer.alloc(BLOCK) : new Buffer(BLOCK)
for (var i = 0; i < BLOCK; i++) block[i] = i & 255

var left = size
var got = 0
var begin = process.hrtime()
var output = fs.createWriteStream(file).on('error', fail).on('drain', more).on('close', read)
more()

function more () {
  var isFree = true
  for (; left > 0 && isFree; left -= BLOCK) isFree = output.write(left < BLOCK ? block.slice(0, left) : block)
  if (left > 0) return
  output.removeListener('drain', more)
  output.end()
}

function read () {
  var write = rate()
  begin = process.hrtime()
  fs.createReadStream(file).on('error', fail).on('data', function (chunk) {
    if (chunk[0] !== (got & 255)) fail(new Error('it reads something else than was written'))
    got += chunk.length
  }).on('end', function () {
    if (got !== size) fail(new Error(got + ' bytes were read of ' + size))
    fs.unlinkSync(file)
    console.log(JSON.stringify({ write: write, read: rate() }))
  })
}

function rate () {
  var took = process.hrtime(begin)
  return size / 1e6 / (took[0] + took[1] / 1e9)
}

function fail (err) {
  console.error(String(err))
  process.exit(1)
}
