'use strict'

const net = require('node:net')

/**
 * One keep-alive connection that sends the same POST again and again.
 *
 * @param {{ port: number, path: string, type: string, body: string }} load body in latin1
 * @return {Promise<{ call: () => Promise<string>, close: () => void }>} call gives the body, in latin1; it rejects
 *   with status and body where the status is not 200
 */
exports.open = function ({ port, path, type, body }) {
  const request = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: ${type}\r\n` +
    `Content-Length: ${body.length}\r\n\r\n${body}`
  const socket = net.connect({ port, host: '127.0.0.1', noDelay: true })
  socket.setEncoding('latin1')
  let got = ''
  let waiting = null

  function settle (act, value) {
    const call = waiting
    waiting = null
    got = ''
    call?.[act](value)
  }

  socket.on('data', chunk => {
    got += chunk
    const end = got.indexOf('\r\n\r\n')
    if (end < 0) return
    const length = Number(/\r\ncontent-length: (\d+)/i.exec(got)?.[1])
    if (got.length < end + 4 + length) return
    const content = got.slice(end + 4)
    if (got.startsWith('HTTP/1.1 200 ')) settle('resolve', content)
    else settle('reject', new Error(`${got.slice(9, 12)} ${content}`))
  })
  socket.on('error', () => {})
  socket.on('close', () => settle('reject', Object.assign(new Error('the connection was closed'), { gone: true })))

  return new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.once('connect', () => resolve({
      call: () => new Promise((resolve, reject) => {
        waiting = { resolve, reject }
        socket.write(request, 'latin1')
      }),
      close: () => socket.destroy()
    }))
  })
}
