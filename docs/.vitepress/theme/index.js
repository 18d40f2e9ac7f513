import { useData } from 'vitepress'
import theme from 'vitepress/theme-without-fonts'
import { h } from 'vue'
import './style.css'

// What to edit, where the site does not know its repository's address.
const Source = {
  setup () {
    const { page, theme } = useData()
    return () => theme.value.editLink ? null : h('p', { class: 'source' }, ['Source: ', h('code', page.value.filePath)])
  }
}

export default {
  extends: theme,
  Layout: () => h(theme.Layout, null, { 'doc-footer-before': () => h(Source) })
}
