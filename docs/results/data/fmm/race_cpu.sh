export OMP_NUM_THREADS=2 RAYON_NUM_THREADS=2 OPENBLAS_NUM_THREADS=1
F=fmm
for round in 1 2 3; do
 for d in cube plummer; do
  q=150; [ $d = plummer ] && q=100
  echo "round $round ours $d potential p7"; $F run -n 1000000 --distribution $d --order 7 --ncrit $q --repeat 2 --check 500 | grep -E "^set-up|^evaluation|^error"
  echo "round $round ours $d gradient p7"; $F run -n 1000000 --distribution $d --order 7 --ncrit $q --gradient --repeat 2 --check 500 | grep -E "^set-up|^evaluation|^error"
  e=c; [ $d = plummer ] && e=p
  c=300; [ $d = plummer ] && c=150
  echo "round $round exafmm-t $d p6 c$c"; exafmm_laplace -n 1000000 -P 6 -c $c -T 2 -d $e | grep -E "Build|Precomp|Setup|^Evaluation  |Error L2"
  if [ $d = cube ]; then echo "round $round kifmm $d blas depth 4"; timeout 100 kifmm_race $d.bin 6 150 blas 2 4
   echo "round $round kifmm $d fft depth 4"; timeout 100 kifmm_race $d.bin 6 150 fft 2 4
  else echo "round $round kifmm $d blas depth 6"; timeout 60 kifmm_race $d.bin 6 150 blas 2 6; fi
 done
done
