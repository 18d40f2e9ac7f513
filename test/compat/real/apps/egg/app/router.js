'use strict'

module.exports = ({ router, controller: { home } }) => {
  router.get('/', home.index)
  router.get('/greet/:name', home.greet)
  router.post('/echo', home.echo)
  router.get('/session', home.session)
  router.get('/stream', home.stream)
  router.redirect('/moved', '/', 301)
  router.get('/refused', home.refused)
  router.get('/fails', home.fails)
  router.get('/async', home.async)
}
