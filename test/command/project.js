'use strict'

const { spawn } = require('node:child_process')
const { once } = require('node:events')
const fs = require('node:fs')
const path = require('node:path')
const { start } = require('../helpers/child')
const scratch = require('../helpers/folder')
const { onFreePort } = require('../helpers/ports')

const ROOT = path.join(__dirname, '../..')
const KONE = path.join(ROOT, require('kone/package.json').bin.kone)

/** A new folder in which `kone` is installed. */
function project (folder) {
  fs.mkdirSync(path.join(folder, 'node_modules'), { recursive: true })
  fs.symlinkSync(ROOT, path.join(folder, 'node_modules/kone'), 'junction')
  return {
    folder,
    write: (name, text) => fs.writeFileSync(path.join(folder, name), text),

    /** Run the command to its end. */
    async kone (...args) {
      const env = { ...process.env, NODE_TEST_CONTEXT: undefined, NODE_ENV: undefined, KONE_CLUSTER: 'node' }
      const child = spawn(process.execPath, [KONE, ...args], { cwd: folder, env })
      const texts = [child.stdout, child.stderr].map(async stream => (await stream.setEncoding('utf8').toArray()).join(''))
      const [code] = await once(child, 'close')
      const [out, err] = (await Promise.all(texts)).map(text => text.trimEnd().split('\n').filter(Boolean))
      return { code, out, err }
    },

    /** `kone dev` on a free port, until the test ends. */
    async dev (t, file, { flags = [], env } = {}) {
      const child = await onFreePort(port => {
        return start([KONE, 'dev', file, '--port', String(port), ...flags], { NODE_ENV: undefined, ...env }, folder)
      })
      t.after(() => child.stop())
      return child
    }
  }
}

module.exports = { KONE, ROOT, project, scratch }
