'use strict'

/*
 * node io.js FILE MB: writes a file through a stream, reads it back, says how many megabytes per second each took;
 * in the language of Node 0.8.
 */

var fs = require('fs')

var file = process.argv[2]
var size = Number(process.argv[3]) * 1e6 // bytes
var BLOCK = 65536 // bytes, as streams read

var block = Buffer.alloc ? Buffer.alloc(BLOCK) : new Buffer(BLOCK)
for (var i = 0; i < BLOCK; i++) block[i] = i & 255

write(function (written) {
  read(function (read) {
    fs.unlinkSync(file)
    console.log(JSON.stringify({ write: written, read: read }))
  })
})

function write (done) {
  var begin = process.hrtime()
  var stream = fs.createWriteStream(file)
  var left = size
  stream.on('error', fail)
  stream.on('drain', more)
  stream.on('close', function () { done(rate(begin)) })
  more()

  function more () {
    while (left > 0) {
      var part = left < BLOCK ? block.slice(0, left) : block
      left -= part.length
      if (stream.write(part) === false) return
    }
    if (left === 0) {
      left = -1
      stream.end()
    }
  }
}

function read (done) {
  var begin = process.hrtime()
  var got = 0
  var stream = fs.createReadStream(file)
  stream.on('error', fail)
  stream.on('data', function (chunk) {
    if (chunk[0] !== (got & 255)) fail(new Error('it reads something else than was written'))
    got += chunk.length
  })
  stream.on('end', function () {
    if (got !== size) fail(new Error(got + ' bytes were read of ' + size))
    done(rate(begin))
  })
}

function rate (begin) {
  var took = process.hrtime(begin)
  return size / 1e6 / (took[0] + took[1] / 1e9)
}

function fail (err) {
  console.error(String(err))
  process.exit(1)
}
