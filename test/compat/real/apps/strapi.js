'use strict'

// Strapi on SQLite: a content type, its entries by the REST API, a session of Strapi's own admin
// being refused. The project is in ./strapi.

const fs = require('node:fs')
const path = require('node:path')

module.exports = {
  title: 'Strapi 5 on SQLite, a content type by REST',
  isFramework: true,
  group: 'strapi',
  packages: { '@strapi/strapi': '5.54.0', 'better-sqlite3': '12.11.1' },
  responses: 14,
  addons: [{ name: 'better-sqlite3', file: 'build/Release/better_sqlite3.node' }],

  async serve () {
    const { createStrapi } = require('@strapi/strapi')
    const appDir = path.join(__dirname, 'strapi')
    const removed = () => fs.rmSync(path.join(appDir, `data-${process.pid}.db`), { force: true })
    removed()
    process.on('exit', removed)
    fs.mkdirSync(path.join(appDir, 'public/uploads'), { recursive: true })
    const strapi = await createStrapi({ appDir, distDir: appDir, autoReload: false, serveAdminPanel: false }).start()
    return strapi.server.httpServer
  },

  mask: text => text.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME').replace(/(documentId\\":\\")\w+/g, '$1ID')
    .replace(/\/api\/notes\/\w{24}/g, '/api/notes/ID')
    .replace(/("x-response-time":")\d+ms/g, '$1TIME')
    .replace(/("(?:etag|last-modified)":")(?:[^"\\]|\\.)*/g, '$1MASKED'),

  async ask (client) {
    const created = await client.ask('POST /api/notes', { json: { data: { title: 'First', text: 'héllo' } } })
    const { documentId } = JSON.parse(created.body).data
    await client.ask('POST /api/notes', { json: { data: { text: 'no title' } } })
    await client.ask('POST /api/notes', { headers: { 'content-type': 'application/json' }, body: '{' })
    await client.ask('GET /api/notes')
    await client.ask(`GET /api/notes/${documentId}?fields[0]=title`)
    await client.ask(`PUT /api/notes/${documentId}`, { json: { data: { title: 'Second' } } })
    await client.ask('GET /api/notes?filters[title][$eq]=Second&sort=title:asc&pagination[pageSize]=1')
    await client.ask('GET /api/notes/nobody')
    await client.ask(`DELETE /api/notes/${documentId}`)
    await client.ask('GET /api/nothing')
    await client.ask('GET /_health')
    await client.ask('GET /admin/users/me')
    await client.ask('OPTIONS /api/notes', { headers: { origin: 'http://a.example', 'access-control-request-method': 'PUT' } })
    await client.ask('HEAD /api/notes')
  },

  load: { line: 'GET /api/notes' }
}
