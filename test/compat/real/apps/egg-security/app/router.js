'use strict'

const values = ['<b onclick="x">bold</b><script>1</script>', 'a\'b"c</script>', '../../etc/passwd', 'javascript:alert(1)', '$(ls)']

module.exports = app => {
  app.get('/', ctx => { ctx.body = { token: ctx.csrf } })
  app.get('/rotate', ctx => {
    ctx.rotateCsrfSecret()
    ctx.body = { token: ctx.csrf }
  })
  app.post('/update', ctx => { ctx.body = ctx.request.body })
  app.get('/nonce', ctx => { ctx.body = { nonce: ctx.nonce } })
  app.get('/own', ctx => { // what the app decides for one response
    Object.assign(ctx.securityOptions, { xframe: { value: 'DENY' }, hsts: { enable: false }, nosniff: { enable: false } })
    ctx.body = 'own'
  })
  app.get('/moved', ctx => ctx.redirect(ctx.query.to))
  app.get('/unsafe', ctx => ctx.unsafeRedirect(ctx.query.to))
  app.get('/helpers', ({ helper }) => {
    helper.ctx.body = Object.fromEntries(['escape', 'shtml', 'sjs', 'sjson', 'spath', 'surl', 'cliFilter', 'escapeShellArg', 'escapeShellCmd']
      .map(name => [name, values.map(value => helper[name](value))]))
  })
  app.get('/safe', ctx => { ctx.body = ['http://a.example.com/', 'http://example.org', '/a', 'ftp://a.example.com'].map(url => ctx.isSafeDomain(url.replace(/^\w+:\/\//, ''))) })
  app.get('/fails', () => { throw new Error('broken') })
}
