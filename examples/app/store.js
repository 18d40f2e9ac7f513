'use strict'

const { randomBytes, scrypt, timingSafeEqual } = require('node:crypto')
const { mkdirSync } = require('node:fs')
const { join } = require('node:path')
const { promisify } = require('node:util')

const hashOf = promisify(scrypt) // on another thread

/**
 * The guestbook in an embedded SQLite: Node's own where it has one, the same file through
 * WebAssembly on Node 20.
 *
 * @param {String} folder made if it is missing
 * @return {{ keys, count, entries, entry, add, signIn }}
 */
exports.open = function (folder) {
  mkdirSync(folder, { recursive: true })
  const db = openDatabase(join(folder, 'guestbook.db'))
  db.exec('PRAGMA busy_timeout = 5000')
  db.exec('CREATE TABLE IF NOT EXISTS setting (name TEXT PRIMARY KEY, value TEXT NOT NULL)')
  db.exec('CREATE TABLE IF NOT EXISTS user (name TEXT PRIMARY KEY, secret TEXT NOT NULL)')
  db.exec(`CREATE TABLE IF NOT EXISTS entry (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, text TEXT NOT NULL, at INTEGER NOT NULL)`)

  return {
    // What cookies are signed and sealed with: made once, shared by all workers of this folder.
    keys: [process.env.SECRET || secret(db)],

    count: () => db.all('SELECT COUNT(*) AS count FROM entry')[0].count,

    entries: (limit = 50) => db.all('SELECT id, name, text, at FROM entry ORDER BY id DESC LIMIT ?', limit),

    entry: id => db.all('SELECT id, name, text, at FROM entry WHERE id = ?', id)[0],

    add (name, text) {
      return db.all('INSERT INTO entry (name, text, at) VALUES (?, ?, ?) RETURNING id, name, text, at',
        name, text, Date.now())[0]
    },

    // The first sign-in of a name makes the account. One hash each time: a known name takes as long as a new one.
    async signIn (name, password) {
      const [user] = db.all('SELECT secret FROM user WHERE name = ?', name)
      const [salt, expected] = user?.secret.split(':') ?? [randomBytes(16).toString('hex')]
      const hash = await hashOf(password, salt, 32)
      if (expected !== undefined) return timingSafeEqual(hash, Buffer.from(expected, 'hex'))
      const made = db.all('INSERT OR IGNORE INTO user VALUES (?, ?) RETURNING name', name, `${salt}:${hash.toString('hex')}`)
      return made.length > 0 || this.signIn(name, password) // another request has just made it
    }
  }
}

function secret (db) {
  db.all("INSERT OR IGNORE INTO setting VALUES ('secret', ?)", randomBytes(32).toString('hex'))
  return db.all("SELECT value FROM setting WHERE name = 'secret'")[0].value
}

// Two drivers, one shape: exec(sql) and all(sql, ...values) → rows.
function openDatabase (file) {
  const DatabaseSync = builtIn()
  if (DatabaseSync) {
    const db = new DatabaseSync(file)
    return { exec: sql => db.exec(sql), all: (sql, ...values) => db.prepare(sql).all(...values) }
  }
  const { Database } = require('node-sqlite3-wasm')
  const db = new Database(file)
  return { exec: sql => db.exec(sql), all: (sql, ...values) => db.all(sql, values) }
}

function builtIn () {
  try {
    return require('node:sqlite').DatabaseSync
  } catch {} // Node 20 has none
}
