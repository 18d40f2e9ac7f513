'use strict'

const EVERY = 1000 // ms between looks for entries of other processes

/**
 * The open pages of the guestbook: each is sent the id of the newest entry, when it connects and when there is another.
 *
 *    const readers = new Readers(store)
 *    router.get('/guestbook/live', websocket(socket => readers.follow(socket)))
 */
module.exports = class Readers {
  constructor (store) {
    this.store = store
    this.sockets = new Set()
    this.newest = 0
    setInterval(() => this.look(), EVERY).unref()
  }

  async follow (socket) {
    this.sockets.add(socket)
    socket.send(String(this.look()))
    await socket.closed
    this.sockets.delete(socket)
  }

  look () {
    if (this.sockets.size === 0) return
    const newest = this.store.entries(1)[0]?.id ?? 0
    if (newest !== this.newest) {
      for (const socket of this.sockets) socket.send(String(newest)) // not awaited: nobody waits for a slow reader
    }
    return (this.newest = newest)
  }
}
