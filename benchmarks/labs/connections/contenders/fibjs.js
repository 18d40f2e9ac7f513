'use strict'

const fs = require('node:fs')
const path = require('node:path')
const { execFileSync } = require('node:child_process')

const binary = process.env.FIBJS_BIN

exports.missing = () => binary && fs.existsSync(binary) ? null : 'download it from https://fibjs.org and name it in FIBJS_BIN'

exports.version = () => execFileSync(binary, ['--version'], { encoding: 'utf8' }).trim().replace(/^v/, '')

exports.command = function ({ host, port, folder }) {
  const file = path.join(folder, 'hello.js')
  fs.writeFileSync(file, `
const http = require('http')
const server = new http.Server('${host}', ${port}, req => {
  req.response.setHeader('Content-Type', 'text/plain; charset=utf-8')
  req.response.write('Hello World')
})
server.start()
`)
  return [path.resolve(binary), file]
}
