# from gnuplot_script(), read and approved; drawn by gnuplot 5.4.4
$series0 << END
7.868 2.5 2.25 2.75
29.868 3 2.5 3.5
END
$series1 << END
8.132 1.5 1.25 1.75
30.132 2 1.5 2.5
END
set terminal svg noenhanced size 814.4,360 dynamic font 'Helvetica,13' linewidth 1.2
set encoding utf8
set bars 0.7
set datafile missing NaN
set label "speedup over hpd.k_max: it's \140date\140 @x \042q\042" at graph 0, graph 1 left offset 0,1.6 font ',15' textcolor rgb '#1f2933'
set tmargin 4
set rmargin 13
set key outside right top vertical reverse Left samplen 1.5 spacing 1 maxcols 1 textcolor rgb '#1f2933'
set yrange [0:3.92]
set xrange [6.9:31.1]
set xtics scale 0 nomirror (8, 30) textcolor rgb '#1f2933'
set ytics scale 0 nomirror textcolor rgb '#1f2933'
set grid ytics noxtics linetype 1 linecolor rgb '#d3d8de' linewidth 0.6
set border 1 linecolor rgb '#d3d8de'
set arrow from graph 0, first 1 to graph 1, first 1 nohead dashtype 2 linecolor rgb '#1f2933' back
set xlabel "hpd.k_max" textcolor rgb '#1f2933'
set ylabel "speedup" textcolor rgb '#1f2933'
plot $series0 using 1:2:3:4 with yerrorbars pointtype 0 linecolor rgb '#0072b2' linewidth 1.4 notitle, \
     $series0 using 1:2 with linespoints pointtype 5 pointsize 0.8 linewidth 1.8 linecolor rgb '#0072b2' title "oa-mine", \
     $series1 using 1:2:3:4 with yerrorbars pointtype 0 linecolor rgb '#d55e00' linewidth 1.4 notitle, \
     $series1 using 1:2 with linespoints pointtype 9 pointsize 0.8 linewidth 1.8 linecolor rgb '#d55e00' title "ae-110k"
$series0 << END
0 2.5 2.25 2.75
1 3 2.5 3.5
END
set terminal pngcairo noenhanced size 1440,268 fontscale 2 font 'DejaVu Sans,9' linewidth 2.4
set encoding utf8
set bars 0.7
set datafile missing NaN
set lmargin 8
set rmargin 3
unset key
set yrange [1.6:-0.6]
set xrange [0:4.2]
set ytics scale 0 ("oa-mine" 0, "ae-110k" 1) textcolor rgb '#1f2933'
set xtics scale 0 nomirror textcolor rgb '#1f2933'
set grid xtics noytics linetype 1 linecolor rgb '#d3d8de' linewidth 0.6
set border 0
set arrow from first 1, graph 0 to first 1, graph 1 nohead dashtype 2 linecolor rgb '#1f2933' back
set label "2.50" at graph 1, first 0 right front textcolor rgb '#1f2933'
set label "3.00" at graph 1, first 1 right front textcolor rgb '#1f2933'
plot $series0 using 2:1:3:4 with xerrorbars pointtype 0 linecolor rgb '#0072b2' linewidth 1.8 notitle, \
     $series0 using 2:1 with points pointtype 5 pointsize 0.9 linewidth 1.4 linecolor rgb '#0072b2' notitle
