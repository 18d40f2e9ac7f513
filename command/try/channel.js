'use strict'

/** Messages between `kone try` and the processes of an app: a line of JSON each. */
class Channel {
  constructor (socket, onMessage) {
    this.socket = socket
    this.questions = new Map() // id → the function that takes the reply
    this.closed = new Promise(resolve => socket.once('close', resolve))
    let text = ''
    socket.setEncoding('utf8').on('data', chunk => {
      const lines = (text + chunk).split('\n')
      text = lines.pop()
      for (const line of lines) this.take(JSON.parse(line), onMessage)
    })
    socket.on('error', () => {}) // its 'close' follows
    socket.on('close', () => this.end())
  }

  take (message, onMessage) {
    const { id, value } = message
    if (!this.questions.has(id)) return onMessage(message)
    this.questions.get(id)(value)
    this.questions.delete(id)
  }

  send (message) {
    this.socket.write(`${JSON.stringify(message)}\n`)
  }

  /** @return {Promise<*>} what the other side returns; undefined once it has ended */
  ask (what) {
    return new Promise(resolve => {
      if (this.socket.destroyed) return resolve()
      const id = this.questions.size + Math.random()
      this.questions.set(id, resolve)
      this.send({ id, what })
    })
  }

  end () {
    for (const resolve of this.questions.values()) resolve()
    this.questions.clear()
  }
}

module.exports = { Channel }
