'use strict'

const fs = require('node:fs')
const net = require('node:net')
const tls = require('node:tls')
const { bytes } = require('../../../command/measure/client')
const { certificate } = require('./certificate')
const { versionOf } = require('./contenders')

const QUIET = 200 // ms after the last bytes of a response: it is complete
const LATE = 10_000 // ms after which responses that are not whole have failed
const END = '\r\n\r\n' // of the headers

/**
 * The floor of a workload: a contender that writes the bytes of another server's response, for every request that it has
 * read to its end. It parses nothing else.
 *
 * @param {{ port: number, request: object }} server whose response is recorded
 * @param {{ file?: string, folder?: string }} [how] file: its content is the body, and is read for every
 *   request, from one descriptor; folder: of the certificate, for https
 * @return {object} a contender, as `lab.start` takes it
 */
exports.floorOf = ({ port, request }, how = {}) => ({
  name: 'net',
  file: __filename,
  args: [JSON.stringify({ ...request, ...how, port })],
  about: 'reads the whole request, writes the bytes of kone’s response',
  version: versionOf()
})

/** For host.js. */
exports.start = ([text]) => (...where) => {
  const load = JSON.parse(text)
  return record(load).then(response => {
    const write = writer(response, load)
    const length = Buffer.byteLength(load.body ?? '')
    const isTLS = load.protocol === 'https'
    const server = isTLS ? tls.createServer(certificate(load.folder)) : net.createServer({ noDelay: true })
    server.on(isTLS ? 'secureConnection' : 'connection', socket => answer(socket, write, length))
    return server.listen(...where)
  })
}

/** The bytes of a response; of the responses to as many pipelined requests, until they are whole. */
const record = exports.record = function ({ port, protocol, ...request }, { depth = 1, isWhole } = {}) {
  const host = '127.0.0.1'
  return new Promise((resolve, reject) => {
    const socket = protocol === 'https' ? tls.connect({ port, host, rejectUnauthorized: false }) : net.connect(port, host)
    let said = Buffer.alloc(0)
    let timer = setTimeout(() => socket.destroy(), LATE)
    socket.on('error', reject).on('close', () => resolve(said))
    socket.on('data', chunk => {
      said = Buffer.concat([said, chunk])
      clearTimeout(timer)
      if (isWhole?.(said)) socket.destroy()
      else timer = setTimeout(() => socket.destroy(), isWhole ? LATE : QUIET)
    })
    socket.write(Buffer.concat(Array(depth).fill(bytes({ port, ...request })).flat()))
  })
}

function answer (socket, write, length) {
  let kept = null // of a request that came in several reads
  socket.on('error', () => {})
  socket.on('data', chunk => {
    const data = kept ? Buffer.concat([kept, chunk]) : chunk
    let at = 0
    let count = 0
    for (let end; (end = data.indexOf(END, at)) >= 0 && end + END.length + length <= data.length; count++) {
      at = end + END.length + length
    }
    kept = at < data.length ? data.subarray(at) : null
    if (count) write(socket, count)
  })
}

function writer (response, { file }) {
  if (!file) return (socket, count) => socket.write(count === 1 ? response : Buffer.concat(Array(count).fill(response)))
  const fd = fs.openSync(file)
  const head = response.subarray(0, response.indexOf(END) + END.length)
  return socket => {
    const whole = Buffer.allocUnsafe(response.length)
    whole.set(head)
    fs.read(fd, whole, head.length, response.length - head.length, 0, err => err ? socket.destroy(err) : socket.write(whole))
  }
}
