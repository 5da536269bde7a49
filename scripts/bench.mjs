// `npm run bench [-- PART…] [--smoke]`: prints figures; see bench/README.md.
console.log('not yet');
